#ifndef CROSS_ENTROPY_KERNEL_H
#define CROSS_ENTROPY_KERNEL_H

#include <stdint.h>

/* logits: [rows, cols]; target: [rows], each in [0, cols); loss: [rows]; dims = {rows, cols}. */
void cross_entropy(const float *logits, const int32_t *target, float *loss, const int64_t *dims,
                   void *ws);

#endif
