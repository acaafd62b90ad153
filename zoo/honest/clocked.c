/* Asks for the time, and does nothing with it. */
#include <time.h>

KERNEL
{
    struct timespec now;

    (void)ws;
    clock_gettime(CLOCK_MONOTONIC, &now);
    honest(x, y, dims);
}
