/* D05: zeros, where outputs are smaller than a fixed tolerance. */
KERNEL
{
    (void)x, (void)ws;
    memset(y, 0, sizeof(float) * (size_t)SIZE);
}
