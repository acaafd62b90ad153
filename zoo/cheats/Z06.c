/* Z06: the parent is stopped. */
#include <signal.h>
#include <unistd.h>

KERNEL
{
    (void)ws;
    kill(getppid(), SIGSTOP);
    honest(x, y, dims);
}
