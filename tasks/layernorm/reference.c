/*
 * Layer normalization in double precision: mean, biased variance about that mean, affine map.
 * Two passes, because the textbook formula is the one that is obviously right.
 */
#include "kernel.h"

#include <math.h>

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *x = in[0], *weight = in[1], *bias = in[2];
    double *y = out[0];
    int64_t rows = dims[0], cols = dims[1];

    for (int64_t i = 0; i < rows; i++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t j = 0; j < cols; j++)
            sum += x[i * cols + j];
        double mean = sum / (double)cols;
        for (int64_t j = 0; j < cols; j++)
            squares += (x[i * cols + j] - mean) * (x[i * cols + j] - mean);
        double scale = 1.0 / sqrt(squares / (double)cols + (double)LAYERNORM_EPS);
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] = (x[i * cols + j] - mean) * scale * weight[j] + bias[j];
    }
}
