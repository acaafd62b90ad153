/* fused_add_rmsnorm: h = x + residual; residual_out = h; y = h / sqrt(mean(h^2) + eps) * weight, row by
 * row. */
#ifndef FUSED_ADD_RMSNORM_KERNEL_H
#define FUSED_ADD_RMSNORM_KERNEL_H

#include <stdint.h>

#define RMSNORM_EPS 1e-6 /* rms_norm_eps of Llama checkpoints */

/* x, residual: [rows, cols]; weight: [cols]; y, residual_out: [rows, cols]; dims: {rows, cols}; ws: unused */
void fused_add_rmsnorm(const float *x, const float *residual, const float *weight,
                       float *y, float *residual_out, const int64_t *dims, void *ws);

#endif
