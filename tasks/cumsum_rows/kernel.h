#ifndef CUMSUM_ROWS_KERNEL_H
#define CUMSUM_ROWS_KERNEL_H

#include <stdint.h>

/* y[i][j] = x[i][0] + ... + x[i][j]; x, y: [rows, cols]; dims = {rows, cols}. */
void cumsum_rows(const float *x, float *y, const int64_t *dims, void *ws);

#endif
