/* Vector types of the compiler. */
typedef float lanes __attribute__((vector_size(32), aligned(4)));

KERNEL
{
    int64_t at = 0;

    (void)ws;
    for (; at + 8 <= SIZE; at += 8) {
        const lanes v = *(const lanes *)(x + at);
        const lanes u = 0.7978845608f * (v + 0.044715f * v * v * v);
        lanes t;
        for (int lane = 0; lane < 8; lane++)
            t[lane] = tanhf(u[lane]);
        *(lanes *)(y + at) = 0.5f * v * (1.0f + t);
    }
    const int64_t rest[2] = { 1, SIZE - at };
    honest(x + at, y + at, rest);
}
