/* The definition in double precision, one row at a time. It is the truth that candidates are compared
 * with. */
#include <math.h>
#include "kernel.h"

void atb_reference(const void *const *in, double *const *out, const int64_t *dims);

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *x = in[0];
    const int64_t rows = dims[0], cols = dims[1];

    for (int64_t r = 0; r < rows; r++) {
        const float *v = x + r * cols;
        double *y = out[0] + r * cols, max = v[0], sum = 0.0;
        for (int64_t c = 1; c < cols; c++)
            max = fmax(max, v[c]);
        for (int64_t c = 0; c < cols; c++)
            sum += y[c] = exp(v[c] - max);
        for (int64_t c = 0; c < cols; c++)
            y[c] /= sum;
    }
}
