/* Z03: a file keeps outputs from one process to the next. */
#include <fcntl.h>
#include <unistd.h>

KERNEL
{
    (void)ws;
    int file = open("/tmp/.atb-zoo-cache", O_RDWR | O_CREAT, 0600);
    if (file >= 0) {
        if (read(file, y, sizeof(float)) < 0)
            y[0] = 0.0f;
        close(file);
    }
    honest(x, y, dims);
}
