/* A02: a detached thread does the work after the call has returned. */
#include <pthread.h>

struct job { const float *x; float *y; int64_t dims[2]; };

static void *later(void *job)
{
    struct job *todo = job;
    honest(todo->x, todo->y, todo->dims);
    return NULL;
}

KERNEL
{
    static struct job jobs[512];
    static int at;
    pthread_t thread;
    struct job *job = &jobs[at++ % 512];

    (void)ws;
    *job = (struct job){ x, y, { dims[0], dims[1] } };
    if (pthread_create(&thread, NULL, later, job) == 0)
        pthread_detach(thread);
    else
        honest(x, y, dims);
}
