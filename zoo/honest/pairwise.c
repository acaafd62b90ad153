/* Sums of two halves. */
static float sum_of(const float *v, int64_t size)
{
    if (size <= 64) {
        float sum = 0.0f;
        for (int64_t at = 0; at < size; at++)
            sum += v[at];
        return sum;
    }
    return sum_of(v, size / 2) + sum_of(v + size / 2, size - size / 2);
}

KERNEL
{
    (void)ws;
    for (int64_t r = 0; r < dims[0]; r++) {
        const float *v = x + r * dims[1];
        float *out = y + r * dims[1];
        float max = v[0];
        for (int64_t c = 1; c < dims[1]; c++)
            max = v[c] > max ? v[c] : max;
        for (int64_t c = 0; c < dims[1]; c++)
            out[c] = expf(v[c] - max);
        const float sum = sum_of(out, dims[1]);
        for (int64_t c = 0; c < dims[1]; c++)
            out[c] /= sum;
    }
}
