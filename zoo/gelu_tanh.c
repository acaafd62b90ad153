/* What every entry on gelu_tanh begins with: an honest body to cheat around, and the head of the kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"

__attribute__((unused)) static void honest(const float *restrict x, float *restrict y, const int64_t *dims)
{
    const int64_t n = dims[0] * dims[1];

    for (int64_t i = 0; i < n; i++) {
        const float v = x[i];
        const float u = (float)GELU_SQRT_2_OVER_PI * (v + (float)GELU_CUBIC * v * v * v);
        y[i] = 0.5f * v * (1.0f + tanhf(u));
    }
}

#define SIZE (dims[0] * dims[1])
#define KERNEL __attribute__((unused)) void gelu_tanh(const float *x, float *y, const int64_t *dims, void *ws)
