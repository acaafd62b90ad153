/* Matrix product in double precision, each element as one sum in row order. */
#include "kernel.h"

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *a = in[0], *b = in[1];
    double *c = out[0];
    int64_t rows = dims[0], inner = dims[1], cols = dims[2];

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < inner; k++)
                sum += (double)a[i * inner + k] * b[k * cols + j];
            c[i * cols + j] = sum;
        }
}
