/* softmax_rows over GCC vector types. e^(x - max) is 2^-t with t >= 0: the integer part goes into the
 * exponent bits, a polynomial gives the fraction, and everything below 2^-120 is flushed to zero. PASSES
 * 2 walks the row once in cache-sized blocks, each with the maximum known so far, and corrects the blocks
 * in the final scaling.
 * Axes: VW floats per vector, UNROLL accumulators, PASSES structure, DEGREE of the polynomial. */
#include <math.h>
#include "kernel.h"

typedef float vf __attribute__((vector_size(4 * VW)));
typedef int32_t vi __attribute__((vector_size(4 * VW)));
typedef float vfu __attribute__((vector_size(4 * VW), aligned(4), may_alias));

#define LOAD(p) (*(const vfu *)(p))
#define STORE(p, v) (*(vfu *)(p) = (v))
#define SELECT(m, a, b) ((vf)(((vi)(a) & (m)) | ((vi)(b) & ~(m))))
#define STEP (UNROLL * VW)
#define LOG2E 1.44269504f
#define BLOCKS 64  /* PASSES 2: at most this many blocks in a row */
#define BLOCK 1024 /* and at least this many floats in a block */

/* 2^f for f in [-1/2, 1/2], interpolated at Chebyshev nodes; relative error 3e-9, 1e-7, 4e-6 for degree
 * 6, 5, 4 */
#if DEGREE == 6
#define POLY(f) (1.0f + (f) * (0.693147207f + (f) * (0.240226509f + (f) * (0.0555032723f \
                 + (f) * (0.00961805668f + (f) * (0.00134004282f + (f) * 0.000154614447f))))))
#elif DEGREE == 5
#define POLY(f) (1.00000008f + (f) * (0.693147188f + (f) * (0.240221075f + (f) * (0.0555035711f \
                 + (f) * (0.00967603192f + (f) * 0.00133908634f)))))
#else
#define POLY(f) (1.0f + (f) * (0.693121045f + (f) * (0.24022349f + (f) * (0.0559219758f \
                 + (f) * 0.00966636852f))))
#endif

/* v = e^(v - max), every lane of v at most max */
static inline __attribute__((always_inline)) void expv(vf *v, float max)
{
    vf t = (max - *v) * LOG2E;
    const vi near = t < 120.0f;
    t = (vf)((vi)t & near);
    const vi k = __builtin_convertvector(t + 0.5f, vi);
    const vf f = __builtin_convertvector(k, vf) - t;
    const vf p = POLY(f);
    *v = (vf)(((vi)p - (k << 23)) & near);
}

static float maximum(const float *x, int64_t n, float max)
{
    int64_t c = 0;

    if (n >= STEP) {
        vf m[UNROLL];
        for (int j = 0; j < UNROLL; j++)
            m[j] = LOAD(x + j * VW);
        for (c = STEP; c + STEP <= n; c += STEP) {
            for (int j = 0; j < UNROLL; j++) {
                const vf v = LOAD(x + c + j * VW);
                m[j] = SELECT(v > m[j], v, m[j]);
            }
        }
        for (int j = 1; j < UNROLL; j++)
            m[0] = SELECT(m[j] > m[0], m[j], m[0]);
        for (int j = 0; j < VW; j++)
            max = m[0][j] > max ? m[0][j] : max;
    }
    for (; c < n; c++)
        max = x[c] > max ? x[c] : max;
    return max;
}

/* sum of e^(x - max); with y, the exponentials times scale are stored too */
static inline __attribute__((always_inline)) float exponentials(const float *x, float *y, int64_t n,
                                                                float max, float scale)
{
    vf acc[UNROLL] = {{0}}, v;
    float sum = 0.0f;
    int64_t c = 0;

    for (; c + STEP <= n; c += STEP) {
        for (int j = 0; j < UNROLL; j++) {
            v = LOAD(x + c + j * VW);
            expv(&v, max);
            acc[j] += v;
            if (y)
                STORE(y + c + j * VW, v * scale);
        }
    }
    for (; c < n; c += VW) {
        const int64_t m = n - c < VW ? n - c : VW;
        float buf[VW];
        for (int64_t j = 0; j < VW; j++)
            buf[j] = j < m ? x[c + j] : max;
        v = LOAD(buf);
        expv(&v, max);
        STORE(buf, v);
        for (int64_t j = 0; j < m; j++) {
            sum += buf[j];
            if (y)
                y[c + j] = buf[j] * scale;
        }
    }
    for (int j = 1; j < UNROLL; j++)
        acc[0] += acc[j];
    for (int j = 0; j < VW; j++)
        sum += acc[0][j];
    return sum;
}

static inline __attribute__((always_inline)) void scale_by(float *y, int64_t n, float scale)
{
    int64_t c = 0;

    for (; c + STEP <= n; c += STEP)
        for (int j = 0; j < UNROLL; j++)
            STORE(y + c + j * VW, LOAD(y + c + j * VW) * scale);
    for (; c < n; c++)
        y[c] *= scale;
}

static inline __attribute__((always_inline)) void row(const float *x, float *y, int64_t n)
{
#if PASSES == 2
    const int64_t least = ((n + BLOCKS - 1) / BLOCKS + STEP - 1) / STEP * STEP;
    const int64_t size = least > BLOCK ? least : BLOCK;
    float maxima[BLOCKS], max = x[0], sum = 0.0f;

    for (int64_t c = 0, b = 0; c < n; c += size, b++) {
        const int64_t m = n - c < size ? n - c : size;
        const float before = max;
        max = maximum(x + c, m, max);
        maxima[b] = max;
        if (max != before)
            sum *= expf(before - max);
        sum += exponentials(x + c, y + c, m, max, 1.0f);
    }
    for (int64_t c = 0, b = 0; c < n; c += size, b++)
        scale_by(y + c, n - c < size ? n - c : size, (maxima[b] == max ? 1.0f : expf(maxima[b] - max)) / sum);
#else
    const float max = maximum(x, n, x[0]);
#if PASSES == 1
    exponentials(x, y, n, max, 1.0f / exponentials(x, 0, n, max, 1.0f));
#else
    scale_by(y, n, 1.0f / exponentials(x, y, n, max, 1.0f));
#endif
#endif
}

void softmax_rows(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    const int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t r = 0; r < rows; r++)
        row(x + r * cols, y + r * cols, cols);
}
