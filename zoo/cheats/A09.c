/* A09: a constructor prints a result and leaves. */
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void forge(void)
{
    dprintf(1, "{\"outcome\":\"faster\",\"ratio\":61000}\n");
    _exit(0);
}

KERNEL
{
    (void)ws;
    honest(x, y, dims);
}
