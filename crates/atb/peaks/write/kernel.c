#include "kernel.h"

void peak_write(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    (void)ws;
    for (int64_t r = 0; r < dims[0]; r++)
        for (int64_t c = 0; c < dims[1]; c++)
            y[r * dims[1] + c] = x[r];
}
