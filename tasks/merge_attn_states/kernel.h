/* merge_attn_states: with m = max(lse_a, lse_b), wa = exp(lse_a - m), wb = exp(lse_b - m) per row and
 * head, out = (wa out_a + wb out_b) / (wa + wb) and lse = m + log(wa + wb). Inputs are finite. */
#ifndef MERGE_ATTN_STATES_KERNEL_H
#define MERGE_ATTN_STATES_KERNEL_H

#include <stdint.h>

/* out_a, out_b, out: [rows, heads * dim]; lse_a, lse_b, lse: [rows, heads]; dims: {rows, heads, dim};
 * ws: unused. */
void merge_attn_states(const float *out_a, const float *lse_a, const float *out_b, const float *lse_b,
                       float *out, float *lse, const int64_t *dims, void *ws);

#endif
