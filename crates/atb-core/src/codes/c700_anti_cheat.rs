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
    FORBIDDEN_CALL = 704, "the code made a system call that the jail refuses";
        "Running code may use memory, clocks and its own processor time. Files, sockets, processes, threads, signals and executable memory are refused, and the first attempt ends the run.";
        "The name or number of the call, as the worker's side noted it.";
        "Compute in the calling thread, with the memory that the task gives or that malloc gives."
    GAP = 705, "the code ran while the clock was off";
        "A worker is stopped between windows. Processor time that it used there, as the kernel counts it, is work that no window holds.";
        "Median processor time between windows, and the median window.";
        "Finish the work of a call before it returns."
}
