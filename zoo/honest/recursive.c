/* Halves, down to 256 elements. */
static void halves(const float *x, float *y, int64_t size)
{
    if (size <= 256) {
        const int64_t dims[2] = { 1, size };
        honest(x, y, dims);
        return;
    }
    halves(x, y, size / 2);
    halves(x + size / 2, y + size / 2, size - size / 2);
}

KERNEL
{
    (void)ws;
    halves(x, y, SIZE);
}
