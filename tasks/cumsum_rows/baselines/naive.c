/*
 * Prefix sum as a careless author writes it: column by column across all rows, each sum read back
 * from the output, so that every access strides over a whole row.
 */
#include "kernel.h"

void cumsum_rows(const float *x, float *y, const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++) {
            double before = j > 0 ? y[i * cols + j - 1] : 0.0;
            y[i * cols + j] = (float)(before + x[i * cols + j]);
        }
}
