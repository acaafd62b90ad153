/* A function pointer and a constant table. */
static void (*const bodies[])(const float *, float *, const int64_t *) = { honest };

KERNEL
{
    (void)ws;
    bodies[SIZE < 0](x, y, dims);
}
