/* As a careless author writes it: the formula copied from the paper, so double constants pull everything
 * into double, and libm's scalar double tanh for each element. */
#include <math.h>
#include "kernel.h"

void gelu_tanh(const float *x, float *y, const int64_t *dims, void *ws)
{
    (void)ws;
    for (int64_t r = 0; r < dims[0]; r++) {
        for (int64_t c = 0; c < dims[1]; c++) {
            double v = x[r * dims[1] + c];
            y[r * dims[1] + c] = 0.5 * v * (1.0 + tanh(GELU_SQRT_2_OVER_PI * (v + GELU_CUBIC * v * v * v)));
        }
    }
}
