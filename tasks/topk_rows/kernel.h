#ifndef TOPK_ROWS_KERNEL_H
#define TOPK_ROWS_KERNEL_H

#include <stdint.h>

/* How many values are kept of each row: the experts per token of DeepSeek-V3. cols is never less. */
#define TOPK 8

/*
 * x: [rows, cols]; vals, idx: [rows, TOPK], the largest values in descending order and where they
 * are; equal values in the order of their indices; dims = {rows, cols}.
 */
void topk_rows(const float *x, float *vals, int32_t *idx, const int64_t *dims, void *ws);

#endif
