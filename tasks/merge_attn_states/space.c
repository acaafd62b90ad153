/* merge_attn_states over GCC vector types. Rows and heads are one flat index; the weights of BATCH heads
 * are computed first, so that WEIGHTS 2 can do it in vectors: with e = e^-|a - b| the larger state weighs
 * 1 / (1 + e), and log(1 + e) = 2 atanh(e / (2 + e)) is a short odd series. Then the elements are
 * streamed.
 * Axes: VW floats per vector, WEIGHTS method, UNROLL vectors per streaming step, PREFETCH distance. */
#include <math.h>
#include "kernel.h"

typedef float vf __attribute__((vector_size(4 * VW)));
typedef int32_t vi __attribute__((vector_size(4 * VW)));
typedef float vfu __attribute__((vector_size(4 * VW), aligned(4), may_alias));

#define LOAD(p) (*(const vfu *)(p))
#define STORE(p, v) (*(vfu *)(p) = (v))
#define SELECT(m, a, b) ((vf)(((vi)(a) & (m)) | ((vi)(b) & ~(m))))
#define LOG2E 1.44269504f
#define BATCH 32 /* heads whose weights are computed before their elements are streamed */
#define LINE 16  /* floats in a cache line */

/* the weights and the merged lse of n heads; all four arrays hold BATCH floats */
static void weights(const float *la, const float *lb, float *wa, float *wb, float *lse, int64_t n)
{
#if WEIGHTS == 0
    for (int64_t g = 0; g < n; g++) {
        const float m = la[g] > lb[g] ? la[g] : lb[g];
        const float ea = expf(la[g] - m), eb = expf(lb[g] - m);
        const float inv = 1.0f / (ea + eb);
        wa[g] = ea * inv;
        wb[g] = eb * inv;
        lse[g] = m + logf(ea + eb);
    }
#elif WEIGHTS == 1
    for (int64_t g = 0; g < n; g++) {
        const int first = la[g] > lb[g];
        const float m = first ? la[g] : lb[g];
        const float e = expf((first ? lb[g] : la[g]) - m);
        const float inv = 1.0f / (1.0f + e);
        wa[g] = first ? inv : e * inv;
        wb[g] = first ? e * inv : inv;
        lse[g] = m + logf(1.0f + e);
    }
#else
    for (int64_t g = 0; g < n; g += VW) {
        const vf a = LOAD(la + g), b = LOAD(lb + g), d = a - b;
        const vi first = d > 0.0f;
        vf t = (vf)((vi)d & INT32_MAX) * LOG2E;
        const vi near = t < 100.0f;
        t = (vf)((vi)t & near);
        const vi k = __builtin_convertvector(t + 0.5f, vi);
        const vf f = __builtin_convertvector(k, vf) - t;
        const vf p = 1.00000008f + f * (0.693147188f + f * (0.240221075f + f * (0.0555035711f
                     + f * (0.00967603192f + f * 0.00133908634f))));
        const vf e = (vf)(((vi)p - (k << 23)) & near);
        const vf big = 1.0f / (1.0f + e), small = e * big;
        const vf z = e / (2.0f + e), q = z * z;
        const vf log1pe = z * (2.0f + q * (0.666666667f + q * (0.4f + q * (0.285714286f + q * (0.222222222f
                          + q * 0.181818182f)))));
        STORE(wa + g, SELECT(first, big, small));
        STORE(wb + g, SELECT(first, small, big));
        STORE(lse + g, SELECT(first, a, b) + log1pe);
    }
#endif
}

static inline __attribute__((always_inline)) void stream(const float *a, const float *b, float *o,
                                                         float wa, float wb, int64_t dim)
{
    int64_t i = 0;

    for (; i + UNROLL * VW <= dim; i += UNROLL * VW)
        for (int j = 0; j < UNROLL; j++)
            STORE(o + i + j * VW, wa * LOAD(a + i + j * VW) + wb * LOAD(b + i + j * VW));
    for (; i + VW <= dim; i += VW)
        STORE(o + i, wa * LOAD(a + i) + wb * LOAD(b + i));
    for (; i < dim; i++)
        o[i] = wa * a[i] + wb * b[i];
}

void merge_attn_states(const float *restrict out_a, const float *restrict lse_a, const float *restrict out_b,
                       const float *restrict lse_b, float *restrict out, float *restrict lse,
                       const int64_t *dims, void *ws)
{
    const int64_t groups = dims[0] * dims[1], dim = dims[2];
    float la[BATCH] = {0}, lb[BATCH] = {0}, wa[BATCH], wb[BATCH], l[BATCH];

    (void)ws;
    for (int64_t g = 0; g < groups; g += BATCH) {
        const int64_t n = groups - g < BATCH ? groups - g : BATCH;
        for (int64_t j = 0; j < n; j++) {
            la[j] = lse_a[g + j];
            lb[j] = lse_b[g + j];
        }
        weights(la, lb, wa, wb, l, n);
        for (int64_t j = 0; j < n; j++)
            lse[g + j] = l[j];
        for (int64_t j = 0; j < n; j++) {
#if PREFETCH > 0
            const int64_t ahead = (g + j) * dim + PREFETCH, left = groups * dim - ahead;
            for (int64_t i = ahead; i < ahead + (left < dim ? left : dim); i += LINE) {
                __builtin_prefetch(out_a + i);
                __builtin_prefetch(out_b + i);
            }
#endif
            stream(out_a + (g + j) * dim, out_b + (g + j) * dim, out + (g + j) * dim, wa[j], wb[j], dim);
        }
    }
}
