/* silu_and_mul over GCC vector types. e^-x is 2^t: the integer part goes into the exponent bits, a
 * polynomial gives the fraction. Rounding is a float to int conversion, so -ffast-math cannot break it.
 * Axes: VW floats per vector, UNROLL vectors per step, FORM of the sigmoid, DEGREE of the polynomial,
 * TAIL handling. */
#include "kernel.h"

typedef float vf __attribute__((vector_size(4 * VW)));
typedef int32_t vi __attribute__((vector_size(4 * VW)));
typedef float vfu __attribute__((vector_size(4 * VW), aligned(4), may_alias));

#define LOAD(p) (*(const vfu *)(p))
#define STORE(p, v) (*(vfu *)(p) = (v))
#define SELECT(m, a, b) ((vf)(((vi)(a) & (m)) | ((vi)(b) & ~(m))))
#define LIMIT 60.0f /* 2^60: far past where the sigmoid is 0 or 1 in float */
#define LOG2E 1.44269504f

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

/* v = silu(v) * up */
static inline __attribute__((always_inline)) void gated(vf *v, const vf *up)
{
    const vf x = *v;
#if FORM == 1
    vf t = (vf)((vi)x & INT32_MAX) * LOG2E;
    const vi near = t < LIMIT;
    t = (vf)((vi)t & near);
    const vi k = __builtin_convertvector(t + 0.5f, vi);
    const vf f = __builtin_convertvector(k, vf) - t;
    const vf p = POLY(f);
    const vf e = (vf)(((vi)p - (k << 23)) & near);
    const vf num = SELECT((vi)x < 0, e, (vf){0} + 1.0f);
    *v = x * *up * num / (1.0f + e);
#else
    const vf hi = (vf){0} + LIMIT, lo = -hi;
    vf t = x * -LOG2E;
    t = SELECT(t < hi, t, hi);
    t = SELECT(t > lo, t, lo);
    const vi k = __builtin_convertvector(t + (LIMIT + 0.5f), vi) - (int32_t)LIMIT;
    const vf f = t - __builtin_convertvector(k, vf);
    const vf p = POLY(f);
    const vf e = (vf)((vi)p + (k << 23));
    *v = x * *up / (1.0f + e);
#endif
}

static inline __attribute__((always_inline)) void step(const float *gate, const float *up, float *out)
{
    vf v[UNROLL], u[UNROLL];

    for (int j = 0; j < UNROLL; j++) {
        v[j] = LOAD(gate + j * VW);
        u[j] = LOAD(up + j * VW);
    }
    for (int j = 0; j < UNROLL; j++)
        gated(&v[j], &u[j]);
    for (int j = 0; j < UNROLL; j++)
        STORE(out + j * VW, v[j]);
}

/* the last m columns, 0 < m < UNROLL * VW, through zero-padded buffers */
static void padded(const float *gate, const float *up, float *out, int64_t m)
{
    float g[UNROLL * VW] = {0}, u[UNROLL * VW] = {0};

    for (int64_t j = 0; j < m; j++) {
        g[j] = gate[j];
        u[j] = up[j];
    }
    step(g, u, g);
    for (int64_t j = 0; j < m; j++)
        out[j] = g[j];
}

void silu_and_mul(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    const int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t r = 0; r < rows; r++) {
        const float *gate = x + r * 2 * cols, *up = gate + cols;
        float *out = y + r * cols;
        int64_t c = 0;
        for (; c + UNROLL * VW <= cols; c += UNROLL * VW)
            step(gate + c, up + c, out + c);
        if (c == cols)
            continue;
#if TAIL == 1
        if (cols >= UNROLL * VW) {
            c = cols - UNROLL * VW;
            step(gate + c, up + c, out + c);
            continue;
        }
#endif
        padded(gate + c, up + c, out + c, cols - c);
    }
}
