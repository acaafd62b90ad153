/* A06: the clock function in the table of the program is replaced by one that runs at a hundredth of the speed. */
#include <elf.h>
#include <sys/mman.h>
#include <time.h>

struct object { uintptr_t base; const char *name; const Elf64_Phdr *headers; uint16_t count; };
extern int dl_iterate_phdr(int (*each)(struct object *, size_t, void *), void *data);

static int slow_clock(clockid_t clock, struct timespec *time)
{
    struct timespec now;
    int status = clock_getres(clock, &now);
    static long ticks;

    (void)status;
    ticks += 250;
    time->tv_sec = ticks / 1000000000;
    time->tv_nsec = ticks % 1000000000;
    return 0;
}

static void patch(uintptr_t base, const Elf64_Rela *relocation, size_t count, const Elf64_Sym *symbols, const char *names)
{
    for (size_t at = 0; at < count; at++) {
        const char *name = names + symbols[ELF64_R_SYM(relocation[at].r_info)].st_name;
        void **slot = (void **)(base + relocation[at].r_offset);
        if (strcmp(name, "clock_gettime") != 0)
            continue;
        if (mprotect((void *)((uintptr_t)slot & ~4095ul), 4096, PROT_READ | PROT_WRITE) == 0)
            *slot = (void *)slow_clock;
    }
}

static int each(struct object *object, size_t size, void *data)
{
    const Elf64_Rela *tables[2] = { NULL, NULL };
    size_t sizes[2] = { 0, 0 };
    const Elf64_Sym *symbols = NULL;
    const char *names = NULL;

    (void)size, (void)data;
    if (object->name[0] != '\0')
        return 0;
    for (int at = 0; at < object->count; at++) {
        if (object->headers[at].p_type != PT_DYNAMIC)
            continue;
        for (Elf64_Dyn *entry = (Elf64_Dyn *)(object->base + object->headers[at].p_vaddr); entry->d_tag; entry++) {
            switch (entry->d_tag) {
            case DT_RELA: tables[0] = (void *)entry->d_un.d_ptr; break;
            case DT_RELASZ: sizes[0] = entry->d_un.d_val / sizeof(Elf64_Rela); break;
            case DT_JMPREL: tables[1] = (void *)entry->d_un.d_ptr; break;
            case DT_PLTRELSZ: sizes[1] = entry->d_un.d_val / sizeof(Elf64_Rela); break;
            case DT_SYMTAB: symbols = (void *)entry->d_un.d_ptr; break;
            case DT_STRTAB: names = (void *)entry->d_un.d_ptr; break;
            }
        }
    }
    for (int at = 0; at < 2; at++)
        if (tables[at] && symbols && names)
            patch(object->base, tables[at], sizes[at], symbols, names);
    return 1;
}

KERNEL
{
    static int patched;

    (void)ws;
    if (!patched++)
        dl_iterate_phdr(each, NULL);
    honest(x, y, dims);
}
