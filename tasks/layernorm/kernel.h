#ifndef LAYERNORM_KERNEL_H
#define LAYERNORM_KERNEL_H

#include <stdint.h>

/* Added to the variance before the square root: the default of torch.nn.LayerNorm. */
#define LAYERNORM_EPS 1e-5f

/* x, y: [rows, cols]; weight, bias: [cols]; dims = {rows, cols}. */
void layernorm(const float *x, const float *weight, const float *bias, float *y,
               const int64_t *dims, void *ws);

#endif
