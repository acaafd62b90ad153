/*
 * Cross-entropy of each row in double precision: log-sum-exp about the largest logit, less the
 * logit of the target. The difference to the largest is taken first: it is exact for the target.
 */
#include "kernel.h"

#include <math.h>

void atb_reference(const void *const *in, double *const *out, const int64_t *dims)
{
    const float *logits = in[0];
    const int32_t *target = in[1];
    double *loss = out[0];
    int64_t rows = dims[0], cols = dims[1];

    for (int64_t i = 0; i < rows; i++) {
        const float *row = logits + i * cols;
        double max = row[0], sum = 0.0;
        for (int64_t j = 1; j < cols; j++)
            max = row[j] > max ? row[j] : max;
        for (int64_t j = 0; j < cols; j++)
            sum += exp(row[j] - max);
        loss[i] = log(sum) + (max - row[target[i]]);
    }
}
