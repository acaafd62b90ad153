/*
 * Top-k of each row, parametrised by VW, UN, BOUND and INSERT (see space.toml).
 * Whole vectors are compared with the value to beat, and the comparisons of 32 elements become the
 * bits of one word, so that only elements that get into the list are looked at one by one.
 * With BOUND, the row is first split into eight groups: each holds an element that is not less than
 * the smallest of the eight maxima, so that nothing below it can be among the eight largest.
 * Nothing is computed from the values; they are only compared and copied.
 */
#include "kernel.h"

#include <float.h>

#define BITS 32 /* elements per block */

typedef float vec __attribute__((vector_size(4 * VW)));
typedef float uvec __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * VW)));
typedef uint32_t bvec __attribute__((vector_size(4 * VW)));
typedef uint32_t ubvec __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef float fvec8 __attribute__((vector_size(32)));
typedef int32_t ivec8 __attribute__((vector_size(32)));
#define CAT(p) (*(const uvec *)(p))
#define SELECT8(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#define UNROLL _Pragma("GCC unroll 32")
#define INLINE static inline __attribute__((always_inline))

static const uint32_t lane_bit[16] = {
    1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
};

struct list {
#if INSERT == 0
    float v[TOPK];
    int32_t i[TOPK];
#else
    fvec8 v;
    ivec8 i;
#endif
};

/* Bits of the lanes of m ored together; any lane is set if it is not zero. */
INLINE uint32_t or_lanes(const ivec *m)
{
#if VW == 4
    typedef int32_t half __attribute__((vector_size(8)));
    half h = __builtin_shufflevector(*m, *m, 0, 1) | __builtin_shufflevector(*m, *m, 2, 3);
#else
    typedef int32_t four __attribute__((vector_size(16)));
    typedef int32_t half __attribute__((vector_size(8)));
#if VW == 16
    ivec8 e = __builtin_shufflevector(*m, *m, 0, 1, 2, 3, 4, 5, 6, 7) |
              __builtin_shufflevector(*m, *m, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    ivec8 e = *m;
#endif
    four f = __builtin_shufflevector(e, e, 0, 1, 2, 3) | __builtin_shufflevector(e, e, 4, 5, 6, 7);
    half h = __builtin_shufflevector(f, f, 0, 1) | __builtin_shufflevector(f, f, 2, 3);
#endif
    return (uint32_t)(h[0] | h[1]);
}

INLINE void insert(struct list *l, float v, int32_t i)
{
#if INSERT == 0
    int p = TOPK - 1;

    if (v < l->v[p] || (v == l->v[p] && i > l->i[p]))
        return;
    for (; p > 0 && (v > l->v[p - 1] || (v == l->v[p - 1] && i < l->i[p - 1])); p--) {
        l->v[p] = l->v[p - 1];
        l->i[p] = l->i[p - 1];
    }
    l->v[p] = v;
    l->i[p] = i;
#else
    /* Entries before the place stay, the place takes the new one, the rest moves down by one. */
    const ivec8 down = {0, 0, 1, 2, 3, 4, 5, 6}, first = {-1, 0, 0, 0, 0, 0, 0, 0};
    ivec8 stay = (l->v > v) | ((l->v == v) & (l->i < i));
    ivec8 stayed = __builtin_shuffle(stay, down) | first;
    ivec8 moved_v = __builtin_shuffle((ivec8)l->v, down), moved_i = __builtin_shuffle(l->i, down);
    ivec8 new_v = (ivec8)((fvec8){0} + v), new_i = (ivec8){0} + i;
    l->v = (fvec8)SELECT8(stay, (ivec8)l->v, SELECT8(stayed, new_v, moved_v));
    l->i = SELECT8(stay, l->i, SELECT8(stayed, new_i, moved_i));
#endif
}

/* Offers the elements of the block at row + j, in order, without the first skip of them. */
INLINE void offer(struct list *l, const float *row, int64_t j, int skip)
{
    bvec lanes = *(const ubvec *)lane_bit;
    ivec m = {0};
    uint32_t hits;

    UNROLL
    for (int v = 0; v < BITS / VW; v++)
        m |= (CAT(row + j + v * VW) >= l->v[TOPK - 1]) & (ivec)(lanes << (v * VW));
    for (hits = or_lanes(&m) & (~0u << skip); hits != 0; hits &= hits - 1) {
        int64_t at = j + __builtin_ctz(hits);
        insert(l, row[at], (int32_t)at);
    }
}

/* A value that at least TOPK elements of the row reach. */
INLINE float lower_bound(const float *row, int64_t cols)
{
    float bound = -FLT_MAX;
#if BOUND == 1
    vec top[BITS / VW];
    float group[BITS];

    if (cols < BITS)
        return bound;
    UNROLL
    for (int v = 0; v < BITS / VW; v++)
        top[v] = CAT(row + v * VW);
    for (int64_t j = BITS; j + BITS <= cols; j += BITS) {
        UNROLL
        for (int v = 0; v < BITS / VW; v++) {
            vec x = CAT(row + j + v * VW);
            ivec more = x > top[v];
            top[v] = (vec)((more & (ivec)x) | (~more & (ivec)top[v]));
        }
    }
    UNROLL
    for (int v = 0; v < BITS / VW; v++)
        *(uvec *)(group + v * VW) = top[v];
    for (int g = 0; g < BITS; g++)
        group[g % TOPK] = group[g] > group[g % TOPK] ? group[g] : group[g % TOPK];
    bound = group[0];
    for (int g = 1; g < TOPK; g++)
        bound = group[g] < bound ? group[g] : bound;
#else
    (void)row;
    (void)cols;
#endif
    return bound;
}

static void row_topk(const float *row, int64_t cols, float *vals, int32_t *idx)
{
    struct list l;
    int64_t j = 0;
    float bound = lower_bound(row, cols);

#if INSERT == 0
    for (int k = 0; k < TOPK; k++) {
        l.v[k] = bound;
        l.i[k] = INT32_MAX;
    }
#else
    l.v = (fvec8){0} + bound;
    l.i = (ivec8){0} + INT32_MAX;
#endif
#if UN > 1
    for (; j + UN * BITS <= cols; j += UN * BITS) {
        ivec any = {0};
        UNROLL
        for (int v = 0; v < UN * BITS / VW; v++)
            any |= CAT(row + j + v * VW) >= l.v[TOPK - 1];
        if (or_lanes(&any) != 0)
            for (int64_t b = j; b < j + UN * BITS; b += BITS)
                offer(&l, row, b, 0);
    }
#endif
    for (; j + BITS <= cols; j += BITS)
        offer(&l, row, j, 0);
    if (j < cols && cols >= BITS)
        offer(&l, row, cols - BITS, (int)(BITS - (cols - j)));
    else
        for (; j < cols; j++)
            insert(&l, row[j], (int32_t)j);
    for (int k = 0; k < TOPK; k++) {
        vals[k] = l.v[k];
        idx[k] = l.i[k];
    }
}

void topk_rows(const float *x, float *vals, int32_t *idx, const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t i = 0; i < rows; i++)
        row_topk(x + i * cols, cols, vals + i * TOPK, idx + i * TOPK);
}
