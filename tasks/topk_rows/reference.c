/*
 * The TOPK largest values of each row: the next pick is the largest among the elements that come
 * after the last pick in the order "larger value first, then lower index".
 */
#include "kernel.h"

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *x = in[0];
    double *vals = out[0], *idx = out[1];
    int64_t rows = dims[0], cols = dims[1];

    for (int64_t i = 0; i < rows; i++) {
        const float *row = x + i * cols;
        int64_t last = -1;
        for (int64_t k = 0; k < TOPK; k++) {
            int64_t best = -1;
            for (int64_t j = 0; j < cols; j++) {
                int left = last < 0 || row[j] < row[last] || (row[j] == row[last] && j > last);
                if (left && (best < 0 || row[j] > row[best]))
                    best = j;
            }
            vals[i * TOPK + k] = row[best];
            idx[i * TOPK + k] = (double)best;
            last = best;
        }
    }
}
