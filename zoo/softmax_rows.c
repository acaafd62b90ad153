/* What every entry on softmax_rows begins with: an honest body to cheat around, and the head of the kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"

__attribute__((unused)) static void honest(const float *restrict x, float *restrict y, const int64_t *dims)
{
    for (int64_t r = 0; r < dims[0]; r++) {
        const float *restrict v = x + r * dims[1];
        float *restrict out = y + r * dims[1];
        float max = v[0], sum = 0.0f;
        for (int64_t c = 1; c < dims[1]; c++)
            max = v[c] > max ? v[c] : max;
        for (int64_t c = 0; c < dims[1]; c++) {
            out[c] = expf(v[c] - max);
            sum += out[c];
        }
        const float inv = 1.0f / sum;
        for (int64_t c = 0; c < dims[1]; c++)
            out[c] *= inv;
    }
}

#define SIZE (dims[0] * dims[1])
#define KERNEL __attribute__((unused)) void softmax_rows(const float *x, float *y, const int64_t *dims, void *ws)
