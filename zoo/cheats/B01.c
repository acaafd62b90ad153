/* B01: the output is copied from freed memory, where a reference may have left it. */
KERNEL
{
    const size_t bytes = sizeof(float) * (size_t)SIZE;
    float *volatile found = malloc(bytes);

    (void)x, (void)ws;
    memcpy(y, found, bytes);
    free(found);
}
