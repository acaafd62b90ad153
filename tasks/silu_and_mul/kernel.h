/* silu_and_mul: y[r][c] = silu(x[r][c]) * x[r][cols + c], silu(v) = v / (1 + exp(-v)). */
#ifndef SILU_AND_MUL_KERNEL_H
#define SILU_AND_MUL_KERNEL_H

#include <stdint.h>

/* x: [rows, 2 * cols], gate half first; y: [rows, cols]; dims: {rows, cols}; ws: unused. */
void silu_and_mul(const float *x, float *y, const int64_t *dims, void *ws);

#endif
