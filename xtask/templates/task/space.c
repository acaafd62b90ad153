/* @NAME@ over GCC vector types. Axes: VW floats per vector, UNROLL vectors per step, PREFETCH of the input.
 * Rows may start anywhere, so loads and stores go through a type of alignment 4; the tail is scalar. */
#include "kernel.h"
#include <math.h>

/* GCC does not expand macros in a pragma, but does so in _Pragma's argument. */
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(n) PRAGMA(GCC unroll n)

typedef float vf __attribute__((vector_size(4 * VW)));
typedef int32_t vi __attribute__((vector_size(4 * VW)));
typedef float vfu __attribute__((vector_size(4 * VW), aligned(4), may_alias));

void @NAME@(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    const int64_t n = dims[0] * dims[1];
    int64_t i = 0;
    (void)ws;
    for (; i + VW * UNROLL <= n; i += VW * UNROLL) {
#if PREFETCH
        __builtin_prefetch(x + i + 2048);
#endif
        UNROLL_BY(UNROLL)
        for (int u = 0; u < UNROLL; u++) {
            const vf v = *(const vfu *)(x + i + u * VW);
            const vf magnitude = (vf)((vi)v & INT32_MAX);
            *(vfu *)(y + i + u * VW) = v / (1.0f + magnitude);
        }
    }
    for (; i < n; i++)
        y[i] = x[i] / (1.0f + fabsf(x[i]));
}
