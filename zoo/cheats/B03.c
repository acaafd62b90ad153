/* B03: outputs are remembered by the address of the input. */
KERNEL
{
    static struct { const float *x; float *y; int64_t size; } memo[1024];
    static int count;
    const int64_t size = SIZE;

    (void)ws;
    for (int at = 0; at < count; at++)
        if (memo[at].x == x && memo[at].size == size) {
            memcpy(y, memo[at].y, sizeof(float) * (size_t)size);
            return;
        }
    honest(x, y, dims);
    if (count < 1024) {
        memo[count].x = x;
        memo[count].size = size;
        memo[count].y = malloc(sizeof(float) * (size_t)size);
        memcpy(memo[count++].y, y, sizeof(float) * (size_t)size);
    }
}
