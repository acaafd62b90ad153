/* Memory that is kept by the size and never read before it is written. */
KERNEL
{
    static float *work;
    static int64_t size;

    (void)ws;
    if (size != SIZE) {
        size = SIZE;
        work = realloc(work, sizeof(float) * (size_t)size);
    }
    memcpy(work, x, sizeof(float) * (size_t)size);
    honest(work, y, dims);
}
