/* As a careless author writes it: double arithmetic, one index computation per element. Built with -O2. */
#include "kernel.h"
#include <math.h>

void @NAME@(const float *x, float *y, const int64_t *dims, void *ws)
{
    (void)ws;
    for (int64_t row = 0; row < dims[0]; row++)
        for (int64_t col = 0; col < dims[1]; col++)
            y[row * dims[1] + col] = (float)(x[row * dims[1] + col] / (1.0 + fabs(x[row * dims[1] + col])));
}
