#ifndef MATMUL_KERNEL_H
#define MATMUL_KERNEL_H

#include <stdint.h>

/* c = a * b; a: [rows, inner], b: [inner, cols], c: [rows, cols]; dims = {rows, inner, cols}. */
void matmul(const float *a, const float *b, float *c, const int64_t *dims, void *ws);

#endif
