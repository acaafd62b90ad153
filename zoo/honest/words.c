/* Words in comments and names that a scan for words would refuse. */
/* cheat, memo, cache, thread, fork, dlopen, clock_gettime, reference, seed, stream: only words. */
static void cheat_cache_memo_dlopen(const float *reference, float *expected, const int64_t *dims)
{
    honest(reference, expected, dims);
}

KERNEL
{
    (void)ws;
    cheat_cache_memo_dlopen(x, y, dims);
}
