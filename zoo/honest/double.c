/* Double precision inside. */
KERNEL
{
    (void)ws;
    for (int64_t at = 0; at < SIZE; at++) {
        const double v = x[at];
        y[at] = (float)(0.5 * v * (1.0 + tanh(GELU_SQRT_2_OVER_PI * (v + GELU_CUBIC * v * v * v))));
    }
}
