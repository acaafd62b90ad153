/* gelu_tanh over GCC vector types. The tanh is rewritten with one exponential: 1 + tanh u = 2 - 2 / (1 +
 * e^2u), and 2^t is split into an integer part, built in the exponent bits, and a polynomial for the
 * fraction. Rounding to the integer is a float to int conversion, so -ffast-math cannot break it. FORM 2
 * only ever needs 2^-|t|.
 * Axes: VW floats per vector, UNROLL vectors per step, FORM of the sigmoid, DEGREE of the polynomial. */
#include "kernel.h"

typedef float vf __attribute__((vector_size(4 * VW)));
typedef int32_t vi __attribute__((vector_size(4 * VW)));
typedef float vfu __attribute__((vector_size(4 * VW), aligned(4), may_alias));

#define LOAD(p) (*(const vfu *)(p))
#define STORE(p, v) (*(vfu *)(p) = (v))
#define SELECT(m, a, b) ((vf)(((vi)(a) & (m)) | ((vi)(b) & ~(m))))
#define LIMIT 60.0f /* 2^60: far past where the sigmoid is 0 or 1 in float */

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

/* t = 2 u log2(e) = x (A + B x^2) */
#define A ((float)(2.0 * 1.4426950408889634 * GELU_SQRT_2_OVER_PI))
#define B ((float)(2.0 * 1.4426950408889634 * GELU_SQRT_2_OVER_PI * GELU_CUBIC))

static inline __attribute__((always_inline)) void gelu(vf *v)
{
    const vf x = *v;
    vf t = x * (A + B * (x * x));
#if FORM == 2
    const vi sign = (vi)x & INT32_MIN;
    const vf ax = (vf)((vi)x ^ sign);
    t = (vf)((vi)t & INT32_MAX);
    const vi near = t < LIMIT;
    t = (vf)((vi)t & near);
    const vi k = __builtin_convertvector(t + 0.5f, vi);
    const vf f = __builtin_convertvector(k, vf) - t;
    const vf p = POLY(f);
    const vf e = (vf)(((vi)p - (k << 23)) & near);
    *v = 0.5f * (x + ax) - ax * (e / (1.0f + e));
#else
    const vf hi = (vf){0} + LIMIT, lo = -hi;
#if FORM == 1
    t = -t;
#endif
    t = SELECT(t < hi, t, hi);
    t = SELECT(t > lo, t, lo);
    const vi k = __builtin_convertvector(t + (LIMIT + 0.5f), vi) - (int32_t)LIMIT;
    const vf f = t - __builtin_convertvector(k, vf);
    const vf p = POLY(f);
    const vf e = (vf)((vi)p + (k << 23));
#if FORM == 1
    *v = x / (1.0f + e);
#else
    const vf th = (e - 1.0f) / (e + 1.0f);
    *v = 0.5f * x * (1.0f + th);
#endif
#endif
}

void gelu_tanh(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    const int64_t n = dims[0] * dims[1];
    int64_t i = 0;

    (void)ws;
    for (; i + UNROLL * VW <= n; i += UNROLL * VW) {
        vf v[UNROLL];
        for (int j = 0; j < UNROLL; j++)
            v[j] = LOAD(x + i + j * VW);
        for (int j = 0; j < UNROLL; j++)
            gelu(&v[j]);
        for (int j = 0; j < UNROLL; j++)
            STORE(y + i + j * VW, v[j]);
    }
    for (; i < n; i += VW) {
        const int64_t m = n - i < VW ? n - i : VW;
        float buf[VW] = {0};
        vf v;
        for (int64_t j = 0; j < m; j++)
            buf[j] = x[i + j];
        v = LOAD(buf);
        gelu(&v);
        STORE(buf, v);
        for (int64_t j = 0; j < m; j++)
            y[i + j] = buf[j];
    }
}
