/* C02b: the reference is looked up by name. */
extern void *dlsym(void *handle, const char *name);

KERNEL
{
    (void)ws;
    if (dlsym(NULL, "atb_reference") == NULL)
        honest(x, y, dims);
}
