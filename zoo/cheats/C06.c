/* C06: the address space is searched for the expected output. */
#include <stdio.h>

KERNEL
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");

    (void)ws;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx rw", &from, &to) != 2)
            continue;
    }
    if (maps)
        fclose(maps);
    honest(x, y, dims);
}
