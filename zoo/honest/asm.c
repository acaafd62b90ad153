/* An instruction of its own. */
KERNEL
{
    (void)ws;
    __asm__ volatile("nop");
    honest(x, y, dims);
}
