/* The definition in double precision, one element at a time. It is the truth that candidates are compared
 * with. */
#include <math.h>
#include "kernel.h"

void atb_reference(const void *const *in, double *const *out, const int64_t *dims);

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *x = in[0];
    double *y = out[0];

    for (int64_t i = 0; i < dims[0] * dims[1]; i++) {
        double v = x[i];
        y[i] = 0.5 * v * (1.0 + tanh(GELU_SQRT_2_OVER_PI * (v + GELU_CUBIC * v * v * v)));
    }
}
