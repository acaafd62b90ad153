/* Inclusive prefix sum of each row, one running sum in double precision. */
#include "kernel.h"

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *x = in[0];
    double *y = out[0];
    int64_t rows = dims[0], cols = dims[1];

    for (int64_t i = 0; i < rows; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < cols; j++) {
            sum += x[i * cols + j];
            y[i * cols + j] = sum;
        }
    }
}
