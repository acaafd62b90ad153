/*
 * Prefix sum of rows, parametrised by VW, CHAIN, UN and ROWS (see space.toml).
 * Each vector is scanned in log2(VW) steps: shift by 1, 2, 4, 8 lanes with zeros coming in, add.
 * What is left of the serial chain is one carry per step, and several rows hide its latency.
 */
#include "kernel.h"

typedef float vec __attribute__((vector_size(4 * VW)));
typedef float uvec __attribute__((vector_size(4 * VW), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * VW)));
#define AT(p) (*(uvec *)(p))
#define CAT(p) (*(const uvec *)(p))
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))

/* Lane l of UP(x, n) is lane l - n of x, or zero: index VW is the first lane of the second vector. */
#if VW == 4
#define UP1 (ivec){4, 0, 1, 2}
#define UP2 (ivec){4, 4, 0, 1}
#elif VW == 8
#define UP1 (ivec){8, 0, 1, 2, 3, 4, 5, 6}
#define UP2 (ivec){8, 8, 0, 1, 2, 3, 4, 5}
#define UP4 (ivec){8, 8, 8, 8, 0, 1, 2, 3}
#else
#define UP1 (ivec){16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
#define UP2 (ivec){16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
#define UP4 (ivec){16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
#define UP8 (ivec){16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7}
#endif
#define LAST(x) __builtin_shuffle(x, (ivec){0} + (VW - 1))

INLINE void scan(vec *x)
{
    vec zero = {0};

    *x += __builtin_shuffle(*x, zero, UP1);
    *x += __builtin_shuffle(*x, zero, UP2);
#if VW >= 8
    *x += __builtin_shuffle(*x, zero, UP4);
#endif
#if VW >= 16
    *x += __builtin_shuffle(*x, zero, UP8);
#endif
}

INLINE void block(const float *x, float *y, int64_t cols, const int r_count)
{
    vec carry[ROWS];
    int64_t j = 0;

    UNROLL
    for (int r = 0; r < r_count; r++)
        carry[r] = (vec){0};
    for (; j + UN * VW <= cols; j += UN * VW) {
        UNROLL
        for (int r = 0; r < r_count; r++) {
            vec s[UN];
            UNROLL
            for (int u = 0; u < UN; u++) {
                s[u] = CAT(x + r * cols + j + u * VW);
                scan(&s[u]);
            }
            UNROLL
            for (int u = 1; u < UN; u++)
                s[u] += LAST(s[u - 1]);
            UNROLL
            for (int u = 0; u < UN; u++)
                AT(y + r * cols + j + u * VW) = s[u] + carry[r];
#if CHAIN == 1
            carry[r] += LAST(s[UN - 1]);
#else
            s[UN - 1] += carry[r];
            carry[r] = LAST(s[UN - 1]);
#endif
        }
    }
    for (int r = 0; r < r_count; r++) {
        float sum = carry[r][0];
        for (int64_t t = j; t < cols; t++)
            y[r * cols + t] = sum += x[r * cols + t];
    }
}

void cumsum_rows(const float *x, float *y, const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1], i = 0;

    (void)ws;
    for (; i + ROWS <= rows; i += ROWS)
        block(x + i * cols, y + i * cols, cols, ROWS);
    for (; i < rows; i++)
        block(x + i * cols, y + i * cols, cols, 1);
}
