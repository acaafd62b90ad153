//! 7xx: results that are too good, or got in a way that does not count.

super::codes! {
    QUARANTINE = 701, "the ratio to the fastest baseline is over the quarantine limit";
        "In SCREEN and CONFIRM the ratio is to the parent. A factor this large, in either direction, is far more often a defect or a cheat than a speedup. It is recorded, and is neither kept nor a parent.";
        "The gate row with the observed ratio and the limit.";
        "Find the mechanism first."
    ELF = 702, "the shared object holds what a kernel does not need";
        "Constructors, destructors and IFUNC resolvers run before any check; text relocations, writable code and an executable stack hide code from every reader; thread-local storage outlives a call.";
        "What was found in the shared object.";
        "Remove the attribute or the section; initialise within the kernel, on each call."
    DEPENDENCY = 703, "the shared object uses libraries that kernels may not use";
        "A kernel that calls another library measures that library. The C library, libm and libmvec are allowed.";
        "The library, or the function that loads libraries.";
        "Write the computation in the candidate's own file."
}
