/* Twelve chains hide the latency of two units with four cycles each, and fit into sixteen registers. */
#include "kernel.h"

#define STEPS 256
#define CHAINS 12
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

void peak_fma(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    (void)ws;
    const int64_t n = dims[0] * dims[1];
    int64_t at = 0;

    for (; at + CHAINS * LANES <= n; at += CHAINS * LANES) {
        lanes chain[CHAINS];

#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            chain[i] = *(const lanes *)(x + at + i * LANES);
        for (int step = 0; step < STEPS; step++)
#pragma GCC unroll 12
            for (int i = 0; i < CHAINS; i++)
                chain[i] = chain[i] * 0.99f + 0.01f;
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            *(lanes *)(y + at + i * LANES) = chain[i];
    }
    for (; at < n; at++) {
        float t = x[at];
        for (int step = 0; step < STEPS; step++)
            t = t * 0.99f + 0.01f;
        y[at] = t;
    }
}
