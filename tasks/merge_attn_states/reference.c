/* The definition in double precision, one head at a time. It is the truth that candidates are compared
 * with. */
#include <math.h>
#include "kernel.h"

void atb_reference(const void *const *in, double *const *out, const int64_t *dims);

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *out_a = in[0], *lse_a = in[1], *out_b = in[2], *lse_b = in[3];
    const int64_t groups = dims[0] * dims[1], dim = dims[2];

    for (int64_t g = 0; g < groups; g++) {
        const double a = lse_a[g], b = lse_b[g], m = fmax(a, b);
        const double wa = exp(a - m), wb = exp(b - m), sum = wa + wb;
        for (int64_t i = g * dim; i < (g + 1) * dim; i++)
            out[0][i] = (wa * out_a[i] + wb * out_b[i]) / sum;
        out[1][g] = m + log(sum);
    }
}
