/*
 * Layer normalization in plain loops that a compiler can vectorise: restrict, float arithmetic,
 * and nothing in the last loop that does not depend on the column.
 */
#include "kernel.h"

#include <math.h>

void layernorm(const float *restrict x, const float *restrict weight, const float *restrict bias,
               float *restrict y, const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1];
    float inv_cols = 1.0f / (float)cols;

    (void)ws;
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict xr = x + i * cols;
        float *restrict yr = y + i * cols;
        float sum = 0.0f, squares = 0.0f;
        for (int64_t j = 0; j < cols; j++)
            sum += xr[j];
        float mean = sum * inv_cols;
        for (int64_t j = 0; j < cols; j++)
            squares += (xr[j] - mean) * (xr[j] - mean);
        float scale = 1.0f / sqrtf(squares * inv_cols + LAYERNORM_EPS);
        for (int64_t j = 0; j < cols; j++)
            yr[j] = (xr[j] - mean) * scale * weight[j] + bias[j];
    }
}
