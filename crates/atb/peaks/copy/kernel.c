/* The C library's copy is the fastest that its authors know for this processor. */
#include <string.h>
#include "kernel.h"

void peak_copy(const float *restrict x, float *restrict y, const int64_t *dims, void *ws)
{
    (void)ws;
    memcpy(y, x, (size_t)(dims[0] * dims[1]) * sizeof *y);
}
