/* Another form of the same function, which rounds otherwise. */
KERNEL
{
    (void)ws;
    for (int64_t at = 0; at < SIZE; at++) {
        const double v = x[at];
        const double u = GELU_SQRT_2_OVER_PI * (v + GELU_CUBIC * v * v * v);
        y[at] = (float)(v / (1.0 + exp(-2.0 * u)));
    }
}
