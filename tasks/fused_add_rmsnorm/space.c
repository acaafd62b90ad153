/* fused_add_rmsnorm over GCC vector types: ACC accumulators break the chain of the sum, the second pass
 * runs while the row is still in the first-level cache, and the next row may be prefetched meanwhile. The
 * operator streams, so these axes move little.
 * Axes: VW floats per vector, ACC vectors per step, RELOAD source of the second pass, PREFETCH of the
 * next row. */
#include <math.h>
#include "kernel.h"

typedef float vf __attribute__((vector_size(4 * VW)));
typedef float vfu __attribute__((vector_size(4 * VW), aligned(4), may_alias));

#define LOAD(p) (*(const vfu *)(p))
#define STORE(p, v) (*(vfu *)(p) = (v))
#define LINE 16 /* floats in a cache line */

static void next_row(const float *a, const float *b, const float *h, const float *out, int64_t c, int64_t n)
{
    for (int64_t j = c; j < c + n; j += LINE) {
        __builtin_prefetch(a + j);
        __builtin_prefetch(b + j);
#if PREFETCH == 2
        __builtin_prefetch(h + j, 1);
        __builtin_prefetch(out + j, 1);
#endif
    }
    (void)h;
    (void)out;
}

void fused_add_rmsnorm(const float *restrict x, const float *restrict residual, const float *restrict weight,
                       float *restrict y, float *restrict residual_out, const int64_t *dims, void *ws)
{
    const int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    (void)next_row;
    for (int64_t r = 0; r < rows; r++) {
        const float *a = x + r * cols, *b = residual + r * cols;
        float *h = residual_out + r * cols, *out = y + r * cols;
        vf acc[ACC] = {{0}};
        float sum = 0.0f;
        int64_t c = 0;
        for (; c + ACC * VW <= cols; c += ACC * VW) {
            for (int j = 0; j < ACC; j++) {
                const vf v = LOAD(a + c + j * VW) + LOAD(b + c + j * VW);
                STORE(h + c + j * VW, v);
                acc[j] += v * v;
            }
        }
        for (; c < cols; c++) {
            h[c] = a[c] + b[c];
            sum += h[c] * h[c];
        }
        for (int j = 1; j < ACC; j++)
            acc[0] += acc[j];
        for (int j = 0; j < VW; j++)
            sum += acc[0][j];
        const float inv = 1.0f / sqrtf(sum / (float)cols + (float)RMSNORM_EPS);
        for (c = 0; c + ACC * VW <= cols; c += ACC * VW) {
#if PREFETCH > 0
            if (r + 1 < rows)
                next_row(a + cols, b + cols, h + cols, out + cols, c, ACC * VW);
#endif
            for (int j = 0; j < ACC; j++) {
#if RELOAD == 1
                const vf v = LOAD(a + c + j * VW) + LOAD(b + c + j * VW);
#else
                const vf v = LOAD(h + c + j * VW);
#endif
                STORE(out + c + j * VW, v * inv * LOAD(weight + c + j * VW));
            }
        }
        for (; c < cols; c++)
            out[c] = h[c] * inv * weight[c];
    }
}
