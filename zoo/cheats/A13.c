/* A13: the first calls sleep, so that a harness that adapts takes few samples. */
#include <time.h>

KERNEL
{
    static int calls;

    (void)ws;
    if (calls++ < 2)
        nanosleep(&(struct timespec){ 0, 40000000 }, NULL);
    honest(x, y, dims);
}
