/* One pass with a running maximum. */
KERNEL
{
    (void)ws;
    for (int64_t r = 0; r < dims[0]; r++) {
        const float *v = x + r * dims[1];
        float *out = y + r * dims[1];
        float max = v[0], sum = 1.0f;
        for (int64_t c = 1; c < dims[1]; c++) {
            const float next = v[c] > max ? v[c] : max;
            sum = sum * expf(max - next) + expf(v[c] - next);
            max = next;
        }
        for (int64_t c = 0; c < dims[1]; c++)
            out[c] = expf(v[c] - max) / sum;
    }
}
