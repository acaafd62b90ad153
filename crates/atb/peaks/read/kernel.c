/* Eight sums at a time, so that loads and not additions are what it waits for. */
#include "kernel.h"

#define CHAINS 8
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

void peak_read(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    (void)ws;
    for (int64_t r = 0; r < dims[0]; r++) {
        const float *row = x + r * dims[1];
        lanes sums[CHAINS] = { 0 };
        float total = 0.0f;
        int64_t c = 0;

        for (; c + CHAINS * LANES <= dims[1]; c += CHAINS * LANES)
#pragma GCC unroll 8
            for (int i = 0; i < CHAINS; i++)
                sums[i] += *(const lanes *)(row + c + i * LANES);
        for (; c < dims[1]; c++)
            total += row[c];
        for (int i = 0; i < CHAINS; i++)
            for (int lane = 0; lane < LANES; lane++)
                total += sums[i][lane];
        y[r] = total;
    }
}
