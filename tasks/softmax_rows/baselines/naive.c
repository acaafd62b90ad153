/* As a careless author writes it: the exponential in double and taken twice, once for the sum and once
 * for the result, and a division by the sum for every element. */
#include <math.h>
#include "kernel.h"

void softmax_rows(const float *x, float *y, const int64_t *dims, void *ws)
{
    (void)ws;
    for (int64_t r = 0; r < dims[0]; r++) {
        double max = -INFINITY, sum = 0.0;
        for (int64_t c = 0; c < dims[1]; c++)
            max = fmax(max, x[r * dims[1] + c]);
        for (int64_t c = 0; c < dims[1]; c++)
            sum += exp(x[r * dims[1] + c] - max);
        for (int64_t c = 0; c < dims[1]; c++)
            y[r * dims[1] + c] = exp(x[r * dims[1] + c] - max) / sum;
    }
}
