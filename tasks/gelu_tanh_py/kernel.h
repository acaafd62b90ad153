/* gelu_tanh: y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), element by element. */
#ifndef GELU_TANH_KERNEL_H
#define GELU_TANH_KERNEL_H

#include <stdint.h>

#define GELU_SQRT_2_OVER_PI 0.7978845608028654 /* sqrt(2 / pi) */
#define GELU_CUBIC 0.044715                    /* the fitted cubic coefficient */

/* x, y: [rows, cols]; dims: {rows, cols}; ws: unused. */
void gelu_tanh(const float *x, float *y, const int64_t *dims, void *ws);

#endif
