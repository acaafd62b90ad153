/* Powers of two instead of e. */
KERNEL
{
    const float log2e = 1.44269504f;

    (void)ws;
    for (int64_t r = 0; r < dims[0]; r++) {
        const float *v = x + r * dims[1];
        float *out = y + r * dims[1];
        float max = v[0], sum = 0.0f;
        for (int64_t c = 1; c < dims[1]; c++)
            max = v[c] > max ? v[c] : max;
        for (int64_t c = 0; c < dims[1]; c++) {
            out[c] = exp2f((v[c] - max) * log2e);
            sum += out[c];
        }
        for (int64_t c = 0; c < dims[1]; c++)
            out[c] /= sum;
    }
}
