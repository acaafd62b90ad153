/* In blocks of 512 elements. */
KERNEL
{
    (void)ws;
    for (int64_t from = 0; from < SIZE; from += 512) {
        const int64_t size[2] = { 1, SIZE - from < 512 ? SIZE - from : 512 };
        honest(x + from, y + from, size);
    }
}
