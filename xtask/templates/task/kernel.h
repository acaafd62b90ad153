/* @NAME@: y = x / (1 + |x|), element by element. Included before every C file of the task. */
#ifndef @UPPER@_KERNEL_H
#define @UPPER@_KERNEL_H

#include <stdint.h>

/* x, y: [rows, cols]; dims: {rows, cols}; ws: unused. Inputs first, then outputs, then dims and workspace. */
void @NAME@(const float *x, float *y, const int64_t *dims, void *ws);

#endif
