/* A block on the stack. */
KERNEL
{
    float block[1024];

    (void)ws;
    for (int64_t from = 0; from < SIZE; from += 1024) {
        const int64_t size[2] = { 1, SIZE - from < 1024 ? SIZE - from : 1024 };
        memcpy(block, x + from, sizeof(float) * (size_t)size[1]);
        honest(block, y + from, size);
    }
}
