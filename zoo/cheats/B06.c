/* B06: the first calls are right, all others do nothing. */
KERNEL
{
    static int calls;

    (void)ws;
    if (calls++ < 6)
        honest(x, y, dims);
}
