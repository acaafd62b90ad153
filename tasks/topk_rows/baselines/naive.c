/*
 * Top-k as a careless author writes it: one pass over the row for each pick, and a search through
 * the earlier picks for each element.
 */
#include "kernel.h"

void topk_rows(const float *x, float *vals, int32_t *idx, const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < TOPK; k++) {
            int64_t best = -1;
            for (int64_t j = 0; j < cols; j++) {
                int taken = 0;
                for (int p = 0; p < k; p++)
                    if (idx[i * TOPK + p] == j)
                        taken = 1;
                if (!taken && (best < 0 || x[i * cols + j] > x[i * cols + best]))
                    best = j;
            }
            vals[i * TOPK + k] = x[i * cols + best];
            idx[i * TOPK + k] = (int32_t)best;
        }
}
