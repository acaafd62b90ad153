/* The definition in double precision, one row at a time. It is the truth that candidates are compared
 * with. */
#include <math.h>
#include "kernel.h"

void atb_reference(const void *const *in, double *const *out, const int64_t *dims);

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *x = in[0], *residual = in[1], *weight = in[2];
    double *y = out[0], *h = out[1];
    const int64_t rows = dims[0], cols = dims[1];

    for (int64_t r = 0; r < rows; r++) {
        double sum = 0.0;
        for (int64_t c = r * cols; c < (r + 1) * cols; c++) {
            h[c] = (double)x[c] + (double)residual[c];
            sum += h[c] * h[c];
        }
        const double rms = sqrt(sum / (double)cols + RMSNORM_EPS);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = h[r * cols + c] / rms * weight[c];
    }
}
