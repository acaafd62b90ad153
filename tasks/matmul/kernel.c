/* Matrix product: the starting point of a tuning run, the same code as baselines/compiler.c. */
#include "kernel.h"

void matmul(const float *restrict a, const float *restrict b, float *restrict c,
            const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], inner = dims[1], cols = dims[2];

    (void)ws;
    for (int64_t i = 0; i < rows; i++) {
        float *restrict cr = c + i * cols;
        for (int64_t j = 0; j < cols; j++)
            cr[j] = 0.0f;
        for (int64_t k = 0; k < inner; k++) {
            const float *restrict br = b + k * cols;
            float s = a[i * inner + k];
            for (int64_t j = 0; j < cols; j++)
                cr[j] += s * br[j];
        }
    }
}
