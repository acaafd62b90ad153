/* B02: a buffer that was filled once is left as it is. */
KERNEL
{
    static float *seen[4096];
    static int count;

    (void)ws;
    for (int at = 0; at < count; at++)
        if (seen[at] == y)
            return;
    if (count < 4096)
        seen[count++] = y;
    honest(x, y, dims);
}
