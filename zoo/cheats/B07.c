/* B07: the output of the first call of a size is replayed. */
KERNEL
{
    static float *first;
    static int64_t size;

    (void)ws;
    if (size == SIZE) {
        memcpy(y, first, sizeof(float) * (size_t)size);
        return;
    }
    honest(x, y, dims);
    size = SIZE;
    first = realloc(first, sizeof(float) * (size_t)size);
    memcpy(first, y, sizeof(float) * (size_t)size);
}
