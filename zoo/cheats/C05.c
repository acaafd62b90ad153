/* C05: NaN, which a careless comparison takes for a match. */
KERNEL
{
    (void)x, (void)ws;
    for (int64_t at = 0; at < SIZE; at++)
        y[at] = (float)NAN;
}
