/* Prefix sum of rows: the starting point of a tuning run, the same code as baselines/compiler.c. */
#include "kernel.h"

void cumsum_rows(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict xr = x + i * cols;
        float *restrict yr = y + i * cols;
        float sum = 0.0f;
        for (int64_t j = 0; j < cols; j++) {
            sum += xr[j];
            yr[j] = sum;
        }
    }
}
