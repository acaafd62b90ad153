/* Clean float code, three loops per row: maximum, exponential and sum, scale by one reciprocal. Maximum
 * and sum vectorise only with -ffast-math, which also lets GCC call the vector expf of libmvec. */
#include <math.h>
#include "kernel.h"

void softmax_rows(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    const int64_t rows = dims[0], cols = dims[1];

    (void)ws;
    for (int64_t r = 0; r < rows; r++) {
        const float *restrict v = x + r * cols;
        float *restrict out = y + r * cols;
        float max = v[0], sum = 0.0f;
        for (int64_t c = 1; c < cols; c++)
            max = v[c] > max ? v[c] : max;
        for (int64_t c = 0; c < cols; c++) {
            const float e = expf(v[c] - max);
            out[c] = e;
            sum += e;
        }
        const float inv = 1.0f / sum;
        for (int64_t c = 0; c < cols; c++)
            out[c] *= inv;
    }
}
