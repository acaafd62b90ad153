/*
 * Prefix sum with the running sum in a register. The sum is a chain from column to column, which
 * compilers do not vectorise: the time is one addition latency per element.
 */
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
