/* Z04: code is written into memory and run from there. */
#include <sys/mman.h>

KERNEL
{
    (void)ws;
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code != MAP_FAILED)
        munmap(code, 4096);
    honest(x, y, dims);
}
