/* B09: all calls share one output, which each call writes to where the one before left its own. */
KERNEL
{
    static float *before;
    static int64_t size;

    (void)ws;
    honest(x, y, dims);
    if (before && before != y && size == SIZE)
        memcpy(before, y, sizeof(float) * (size_t)size);
    before = y;
    size = SIZE;
}
