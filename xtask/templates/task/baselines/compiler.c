/* Clean, honest, simple: what the compiler can vectorise. Built with the fastest flag set that passes correctness. */
#include "kernel.h"
#include <math.h>

void @NAME@(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    const int64_t n = dims[0] * dims[1];
    (void)ws;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] / (1.0f + fabsf(x[i]));
}
