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
    REVIEW = 706, "the ratio to the vendor's code is over the review limit";
        "A library's authors have looked long at its kernels, so a factor this large is more often a defect than a speedup. The result counts, and is flagged until someone has ruled on it.";
        "The gate row with the observed ratio and the limit.";
        "Find the mechanism; then `atb quarantine release`, or `reject`."
    COPY = 707, "the source is nearly that of the reference, a baseline or an earlier candidate";
        "Names, comments and layout aside, most of the text is known. The result counts and is flagged: a null is what a copy should read, and a gain is that of the few tokens that differ.";
        "The gate row: its gate names the known source, the observed value is the share of token shingles in common.";
        "Say in the report what differs; then `atb quarantine release`."
    COPY_GAINS = 708, "a copy claims a gain over the code that it copies";
        "The source is that of the parent or baseline that it is compared with, names, comments and layout aside. Equal code is equally fast: flags, placement, luck or a defect made the difference.";
        "The gate row: its gate names the copied source.";
        "Measure again; a gain that stays is the build's, not the source's."
    ROOFLINE = 709, "the time is below what the machine can do";
        "The task's declared bytes and operations take longer at the peaks that were measured on this machine, by the same worker and clock. A time below that is a defect, a cheat, a wrong declaration, an algorithm that needs less, or a peak that was measured on a busy machine.";
        "The gate row: time over the least time in the shape that comes closest, and the peaks.";
        "Run `atb doctor --peaks` again on a quiet machine; then find the mechanism, and release or reject."
    MAPPED = 710, "executable memory appeared while the code ran";
        "What is judged is the object that was inspected. A library that is loaded later, or machine code that is made on the way, is other code. The filter refuses both; this is seen in the kernel's account of the process, whatever the filter did.";
        "The mapping, as the kernel lists it.";
        "Put the computation into the candidate's own file."
}
