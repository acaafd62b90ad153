/* A message that goes nowhere. */
#include <stdio.h>

KERNEL
{
    static int said;

    (void)ws;
    if (!said++)
        fprintf(stderr, "kernel of %ld elements\n", (long)SIZE);
    honest(x, y, dims);
}
