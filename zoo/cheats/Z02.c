/* Z02: a timer takes the processor while the clock is off. */
#include <signal.h>
#include <sys/time.h>

static void work(int signal) { (void)signal; }

KERNEL
{
    static int begun;

    (void)ws;
    if (!begun++) {
        signal(SIGALRM, work);
        setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 500 }, { 0, 500 } }, NULL);
    }
    honest(x, y, dims);
}
