/*
 * Top-k with one pass: a sorted list of the best so far, and an insertion for each element that
 * beats the last of them. Later elements lose ties, so the lower index comes first.
 */
#include "kernel.h"

void topk_rows(const float *restrict x, float *restrict vals, int32_t *restrict idx,
               const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict row = x + i * cols;
        float best[TOPK];
        int32_t at[TOPK];
        int kept = 0;
        for (int64_t j = 0; j < cols; j++) {
            float v = row[j];
            if (kept == TOPK && v <= best[TOPK - 1])
                continue;
            int p = kept < TOPK ? kept++ : TOPK - 1;
            for (; p > 0 && v > best[p - 1]; p--) {
                best[p] = best[p - 1];
                at[p] = at[p - 1];
            }
            best[p] = v;
            at[p] = (int32_t)j;
        }
        for (int k = 0; k < TOPK; k++) {
            vals[i * TOPK + k] = best[k];
            idx[i * TOPK + k] = at[k];
        }
    }
}
