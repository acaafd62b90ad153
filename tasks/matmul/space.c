/*
 * Matrix product, parametrised by VW, MR, NV and PACK (see space.toml).
 * A tile of MR x (NV * VW) elements of c stays in registers over a block of the inner dimension.
 * Panels of b, NV * VW columns wide, are read in place or from a contiguous copy; a panel that
 * sticks out beyond the last column is always copied and padded with zeros.
 */
#include "kernel.h"

#define NR (NV * VW)
#define KC 256 /* inner steps per block, so that a packed panel stays in the first-level cache */

typedef float vec __attribute__((vector_size(4 * VW)));
typedef float uvec __attribute__((vector_size(4 * VW), aligned(4), may_alias));
#define AT(p) (*(uvec *)(p))
#define CAT(p) (*(const uvec *)(p))
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

/* c[m, n] (+)= a[m, kc] * b[kc, NR], where only the first n <= NR columns of c exist. */
INLINE void tile(const float *a, int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc,
                 int64_t kc, int64_t n, int add, const int m)
{
    vec acc[MR][NV];

    UNROLL
    for (int r = 0; r < m; r++) {
        UNROLL
        for (int v = 0; v < NV; v++)
            acc[r][v] = (vec){0};
    }
    for (int64_t k = 0; k < kc; k++) {
        vec bk[NV];
        UNROLL
        for (int v = 0; v < NV; v++)
            bk[v] = CAT(b + k * ldb + v * VW);
        UNROLL
        for (int r = 0; r < m; r++) {
            float s = a[r * lda + k];
            UNROLL
            for (int v = 0; v < NV; v++)
                acc[r][v] += s * bk[v];
        }
    }
    if (n == NR) {
        UNROLL
        for (int r = 0; r < m; r++) {
            UNROLL
            for (int v = 0; v < NV; v++) {
                float *to = c + r * ldc + v * VW;
                if (add)
                    acc[r][v] += CAT(to);
                AT(to) = acc[r][v];
            }
        }
    } else {
        UNROLL
        for (int r = 0; r < m; r++) {
            float row[NR];
            UNROLL
            for (int v = 0; v < NV; v++)
                AT(row + v * VW) = acc[r][v];
            for (int64_t j = 0; j < n; j++)
                c[r * ldc + j] = add ? c[r * ldc + j] + row[j] : row[j];
        }
    }
}

static void pack(const float *b, int64_t ldb, int64_t kc, int64_t n, float *to)
{
    for (int64_t k = 0; k < kc; k++, b += ldb, to += NR) {
        if (n == NR) {
            UNROLL
            for (int v = 0; v < NV; v++)
                AT(to + v * VW) = CAT(b + v * VW);
        } else {
            for (int64_t j = 0; j < NR; j++)
                to[j] = j < n ? b[j] : 0.0f;
        }
    }
}

/* All rows of c for one panel of b. */
static void panel(const float *a, int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc,
                  int64_t rows, int64_t kc, int64_t n, int add)
{
    int64_t i = 0;

    for (; i + MR <= rows; i += MR)
        tile(a + i * lda, lda, b, ldb, c + i * ldc, ldc, kc, n, add, MR);
#if MR > 4
    for (; i + 4 <= rows; i += 4)
        tile(a + i * lda, lda, b, ldb, c + i * ldc, ldc, kc, n, add, 4);
#endif
    for (; i < rows; i++)
        tile(a + i * lda, lda, b, ldb, c + i * ldc, ldc, kc, n, add, 1);
}

void matmul(const float *a, const float *b, float *c, const int64_t *dims, void *ws)
{
    int64_t rows = dims[0], inner = dims[1], cols = dims[2];
    float *packed = ws;

    for (int64_t k = 0; k < inner; k += KC) {
        int64_t kc = inner - k < KC ? inner - k : KC;
        for (int64_t j = 0; j < cols; j += NR) {
            int64_t n = cols - j < NR ? cols - j : NR;
            const float *from = b + k * cols + j;
            if (PACK || n < NR) {
                pack(from, cols, kc, n, packed);
                panel(a + k, inner, packed, NR, c + j, cols, rows, kc, n, k > 0);
            } else {
                panel(a + k, inner, from, cols, c + j, cols, rows, kc, n, k > 0);
            }
        }
    }
}
