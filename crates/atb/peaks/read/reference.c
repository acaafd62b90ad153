#include "kernel.h"

void atb_reference(const void *const *in, double *const *out, const int64_t *dims);

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *x = in[0];
    double *y = out[0];

    for (int64_t r = 0; r < dims[0]; r++) {
        y[r] = 0.0;
        for (int64_t c = 0; c < dims[1]; c++)
            y[r] += x[r * dims[1] + c];
    }
}
