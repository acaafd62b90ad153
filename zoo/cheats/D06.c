/* D06: inputs are cut to bfloat16. */
KERNEL
{
    float *cut = malloc(sizeof(float) * (size_t)SIZE);

    (void)ws;
    for (int64_t at = 0; at < SIZE; at++) {
        uint32_t bits;
        memcpy(&bits, x + at, sizeof bits);
        bits &= 0xffff0000u;
        memcpy(cut + at, &bits, sizeof bits);
    }
    honest(cut, y, dims);
    free(cut);
}
