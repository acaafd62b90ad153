/* Sums in double precision. */
KERNEL
{
    (void)ws;
    for (int64_t r = 0; r < dims[0]; r++) {
        const float *v = x + r * dims[1];
        float *out = y + r * dims[1];
        float max = v[0];
        double sum = 0.0;
        for (int64_t c = 1; c < dims[1]; c++)
            max = v[c] > max ? v[c] : max;
        for (int64_t c = 0; c < dims[1]; c++) {
            out[c] = expf(v[c] - max);
            sum += out[c];
        }
        for (int64_t c = 0; c < dims[1]; c++)
            out[c] = (float)(out[c] / sum);
    }
}
