/*
 * Layer normalization, parametrised by VW, ACC, STAT and ROWS (see space.toml).
 * STAT 1 reads each row once for both sums. The sums are taken about a shift, the mean of the first
 * values of the row, so that the squares do not cancel when a row lies far from zero.
 */
#include "kernel.h"

#include <math.h>

#define SHIFT_VALUES 16

typedef float vec __attribute__((vector_size(4 * VW)));
typedef float uvec __attribute__((vector_size(4 * VW), aligned(4), may_alias));
#define AT(p) (*(uvec *)(p))
#define CAT(p) (*(const uvec *)(p))
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))

/* sum[r] = sum of (x - shift[r]) and squares[r] = sum of its squares, over row r of r_count. */
INLINE void sums(const float *x, int64_t cols, const int r_count, const float *shift, float *sum,
                 float *squares)
{
    vec s[ROWS][ACC], q[ROWS][ACC];
    int64_t j = 0;

    UNROLL
    for (int r = 0; r < r_count; r++) {
        UNROLL
        for (int a = 0; a < ACC; a++)
            s[r][a] = q[r][a] = (vec){0};
    }
    for (; j + ACC * VW <= cols; j += ACC * VW) {
        UNROLL
        for (int r = 0; r < r_count; r++) {
            UNROLL
            for (int a = 0; a < ACC; a++) {
                vec d = CAT(x + r * cols + j + a * VW) - shift[r];
                s[r][a] += d;
                q[r][a] += d * d;
            }
        }
    }
    UNROLL
    for (int r = 0; r < r_count; r++) {
        float st = 0.0f, qt = 0.0f;
        for (int64_t t = j; t < cols; t++) {
            float d = x[r * cols + t] - shift[r];
            st += d;
            qt += d * d;
        }
        UNROLL
        for (int a = 1; a < ACC; a++) {
            s[r][0] += s[r][a];
            q[r][0] += q[r][a];
        }
        for (int l = 0; l < VW; l++) {
            st += s[r][0][l];
            qt += q[r][0][l];
        }
        sum[r] = st;
        squares[r] = qt;
    }
}

INLINE void block(const float *x, const float *weight, const float *bias, float *y, int64_t cols,
                  const int r_count)
{
    float shift[ROWS], sum[ROWS], squares[ROWS], mean[ROWS], scale[ROWS];
    float inv_cols = 1.0f / (float)cols;
    int64_t j = 0;

    for (int r = 0; r < r_count; r++) {
        shift[r] = 0.0f;
#if STAT == 1
        int64_t few = cols < SHIFT_VALUES ? cols : SHIFT_VALUES;
        for (int64_t t = 0; t < few; t++)
            shift[r] += x[r * cols + t];
        shift[r] /= (float)few;
#endif
    }
#if STAT == 0
    sums(x, cols, r_count, shift, sum, squares);
    for (int r = 0; r < r_count; r++)
        shift[r] = sum[r] * inv_cols;
#endif
    sums(x, cols, r_count, shift, sum, squares);
    for (int r = 0; r < r_count; r++) {
        float rest = sum[r] * inv_cols;
        float var = squares[r] * inv_cols - rest * rest;
        mean[r] = shift[r] + rest;
        scale[r] = 1.0f / sqrtf((var > 0.0f ? var : 0.0f) + LAYERNORM_EPS);
    }
    for (; j + VW <= cols; j += VW) {
        vec w = CAT(weight + j), b = CAT(bias + j);
        UNROLL
        for (int r = 0; r < r_count; r++)
            AT(y + r * cols + j) = (CAT(x + r * cols + j) - mean[r]) * scale[r] * w + b;
    }
    for (; j < cols; j++)
        for (int r = 0; r < r_count; r++)
            y[r * cols + j] = (x[r * cols + j] - mean[r]) * scale[r] * weight[j] + bias[j];
}

void layernorm(const float *x, const float *weight, const float *bias, float *y,
               const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], cols = dims[1], i = 0;

    (void)ws;
    for (; i + ROWS <= rows; i += ROWS)
        block(x + i * cols, weight, bias, y + i * cols, cols, ROWS);
    for (; i < rows; i++)
        block(x + i * cols, weight, bias, y + i * cols, cols, 1);
}
