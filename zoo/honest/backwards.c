/* From the last element to the first. */
KERNEL
{
    (void)ws;
    for (int64_t at = SIZE - 1; at >= 0; at--) {
        const int64_t size[2] = { 1, 1 };
        honest(x + at, y + at, size);
    }
}
