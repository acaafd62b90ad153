/*
 * Layer normalization as a careless author writes it: the centred values are stored and read back,
 * and the square root and the division are repeated for each element.
 */
#include "kernel.h"

#include <math.h>

void layernorm(const float *x, const float *weight, const float *bias, float *y,
               const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t i = 0; i < rows; i++) {
        double mean = 0.0, var = 0.0;
        for (int64_t j = 0; j < cols; j++)
            mean += x[i * cols + j] / (double)cols;
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] = (float)(x[i * cols + j] - mean);
        for (int64_t j = 0; j < cols; j++)
            var += pow(y[i * cols + j], 2.0) / (double)cols;
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] = (float)(y[i * cols + j] / sqrt(var + LAYERNORM_EPS));
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] = y[i * cols + j] * weight[j] + bias[j];
    }
}
