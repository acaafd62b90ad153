/*
 * Cross-entropy, parametrised by VW, DEG, ONLINE and UN (see space.toml).
 * exp(d) for d <= 0 is 2^n * 2^r: n rounds d / ln 2 to an integer by a conversion, 2^r is a
 * polynomial, and n is added to the exponent bits. ONLINE keeps a maximum and a sum for each lane
 * and rescales the sum once per block, so that each row is read once.
 */
#include "kernel.h"

#include <math.h>

#define LOWEST (-1e30f)

typedef float vec __attribute__((vector_size(4 * VW)));
typedef float uvec __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * VW)));
#define CAT(p) (*(const uvec *)(p))
#define SELECT(mask, a, b) ((vec)(((mask) & (ivec)(a)) | (~(mask) & (ivec)(b))))
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))

static const float lane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* *d = exp(*d) for *d <= 0; below 2^-125 it stays there. */
INLINE void exp_nonpositive(vec *d)
{
    vec t = *d * 1.44269504f;
    t = SELECT(t < -125.0f, (vec){0} - 125.0f, t);
    ivec n = __builtin_convertvector(t - 0.5f, ivec);
    vec r = t - __builtin_convertvector(n, vec);
#if DEG == 6
    vec p = r * 0.000154531629f + 0.00133908634f;
    p = p * r + 0.00961808256f;
    p = p * r + 0.0555035711f;
    p = p * r + 0.240226508f;
    p = p * r + 0.693147188f;
#elif DEG == 5
    vec p = r * 0.00133813025f + 0.00966636852f;
    p = p * r + 0.0555038101f;
    p = p * r + 0.24022349f;
    p = p * r + 0.693147181f;
#else
    vec p = r * 0.00965671029f + 0.0558382829f;
    p = p * r + 0.240225301f;
    p = p * r + 0.693136734f;
#endif
    p = p * r + 1.0f;
    *d = (vec)((ivec)p + (n << 23));
}

INLINE void max_into(vec *m, const vec *x)
{
    *m = SELECT(*x > *m, *x, *m);
}

#if ONLINE == 0
/* Lane maxima in *m, then lane sums of exp(x - overall maximum) in *s; cols is a multiple of VW. */
INLINE void lanes(const float *x, int64_t cols, const vec *tail, vec *m, vec *s)
{
    vec a[UN];
    float max = LOWEST;
    int64_t j = 0;

    UNROLL
    for (int u = 0; u < UN; u++)
        a[u] = *tail;
    for (; j + UN * VW <= cols; j += UN * VW)
        UNROLL
        for (int u = 0; u < UN; u++) {
            vec v = CAT(x + j + u * VW);
            max_into(&a[u], &v);
        }
    for (; j < cols; j += VW) {
        vec v = CAT(x + j);
        max_into(&a[0], &v);
    }
    UNROLL
    for (int u = 0; u < UN; u++)
        for (int l = 0; l < VW; l++)
            max = a[u][l] > max ? a[u][l] : max;
    *m = (vec){0} + max;

    UNROLL
    for (int u = 1; u < UN; u++)
        a[u] = (vec){0};
    a[0] = *tail - max;
    exp_nonpositive(&a[0]);
    for (j = 0; j + UN * VW <= cols; j += UN * VW)
        UNROLL
        for (int u = 0; u < UN; u++) {
            vec e = CAT(x + j + u * VW) - max;
            exp_nonpositive(&e);
            a[u] += e;
        }
    for (; j < cols; j += VW) {
        vec e = CAT(x + j) - max;
        exp_nonpositive(&e);
        a[0] += e;
    }
    UNROLL
    for (int u = 1; u < UN; u++)
        a[0] += a[u];
    *s = a[0];
}
#else
/* Adds count vectors to the running maximum and sum of each lane. */
INLINE void online_step(const vec *x, const int count, vec *m, vec *s)
{
    vec top = *m, old, sum[2] = {{0}, {0}};

    UNROLL
    for (int u = 0; u < count; u++)
        max_into(&top, &x[u]);
    old = *m - top;
    exp_nonpositive(&old);
    UNROLL
    for (int u = 0; u < count; u++) {
        vec e = x[u] - top;
        exp_nonpositive(&e);
        sum[u & 1] += e;
    }
    *s = *s * old + (sum[0] + sum[1]);
    *m = top;
}

/* Lane maxima in *m and lane sums of exp(x - lane maximum) in *s; cols is a multiple of VW. */
INLINE void lanes(const float *x, int64_t cols, const vec *tail, vec *m, vec *s)
{
    vec b[UN];
    int64_t j = 0;

    *m = (vec){0} + LOWEST;
    *s = (vec){0};
    online_step(tail, 1, m, s);
    for (; j + UN * VW <= cols; j += UN * VW) {
        UNROLL
        for (int u = 0; u < UN; u++)
            b[u] = CAT(x + j + u * VW);
        online_step(b, UN, m, s);
    }
    for (; j < cols; j += VW) {
        b[0] = CAT(x + j);
        online_step(b, 1, m, s);
    }
}
#endif

static float narrow_row(const float *x, int64_t cols, int32_t target)
{
    float max = x[0], sum = 0.0f;

    for (int64_t j = 1; j < cols; j++)
        max = x[j] > max ? x[j] : max;
    for (int64_t j = 0; j < cols; j++)
        sum += expf(x[j] - max);
    return logf(sum) + (max - x[target]);
}

static float wide_row(const float *x, int64_t cols, int32_t target)
{
    int64_t whole = cols / VW * VW;
    vec m, s, tail = CAT(x + cols - VW);
    float max, sum = 0.0f;

    /* The last vector overlaps the whole ones: keep only the lanes that they leave out. */
    tail = SELECT(CAT(lane) < (float)(VW - (cols - whole)), (vec){0} + LOWEST, tail);
    lanes(x, whole, &tail, &m, &s);
    max = m[0];
    for (int l = 1; l < VW; l++)
        max = m[l] > max ? m[l] : max;
    m -= max;
    exp_nonpositive(&m);
    s *= m;
    for (int l = 0; l < VW; l++)
        sum += s[l];
    return logf(sum) + (max - x[target]);
}

void cross_entropy(const float *logits, const int32_t *target, float *loss, const int64_t *dims,
                   void *ws)
{
    int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t i = 0; i < rows; i++) {
        const float *x = logits + i * cols;
        loss[i] = cols < VW ? narrow_row(x, cols, target[i]) : wide_row(x, cols, target[i]);
    }
}
