/*
 * Matrix product as a careless author writes it: the textbook triple loop, which walks down the
 * columns of b with a stride of a whole row.
 */
#include "kernel.h"

void matmul(const float *a, const float *b, float *c, const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], inner = dims[1], cols = dims[2];

    (void)ws;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < inner; k++)
                sum += a[i * inner + k] * b[k * cols + j];
            c[i * cols + j] = sum;
        }
}
