/* softmax_rows: y[r][c] = exp(x[r][c] - max_r) / sum over the row. Inputs are finite. */
#ifndef SOFTMAX_ROWS_KERNEL_H
#define SOFTMAX_ROWS_KERNEL_H

#include <stdint.h>

/* x, y: [rows, cols]; dims: {rows, cols}; ws: unused. */
void softmax_rows(const float *x, float *y, const int64_t *dims, void *ws);

#endif
