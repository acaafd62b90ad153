/* The judge: double precision, straightforward, obviously right. No vector tricks. */
#include "kernel.h"
#include <math.h>

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *x = in[0];
    const int64_t n = dims[0] * dims[1];
    for (int64_t i = 0; i < n; i++)
        out[0][i] = (double)x[i] / (1.0 + fabs((double)x[i]));
}
