/* Z05: the descriptor of the hand-off is filled, so that the parent would block. */
#include <unistd.h>

KERNEL
{
    const uint64_t most = ~1ull;

    (void)ws;
    if (write(7, &most, sizeof most) < 0)
        y[0] = 0.0f;
    honest(x, y, dims);
}
