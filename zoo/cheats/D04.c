/* D04: inputs are made again from a seed that a harness is known for. */
KERNEL
{
    uint32_t state = 42;

    (void)x, (void)ws;
    for (int64_t at = 0; at < SIZE; at++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        y[at] = (float)state / 4294967296.0f;
    }
}
