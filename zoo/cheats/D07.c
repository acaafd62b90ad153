/* D07: the input is the output. */
KERNEL
{
    (void)ws;
    memcpy(y, x, sizeof(float) * (size_t)SIZE);
}
