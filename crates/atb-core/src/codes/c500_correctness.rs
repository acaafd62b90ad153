//! 5xx: the candidate's file, its build, and its outputs.

super::codes! {
    CANDIDATE_SIZE = 501, "the candidate file is empty or too large";
        "The protocol bounds the size of the editable file.";
        "The size and the limit.";
        "Submit one C file within the limit."
    CANDIDATE_TEXT = 502, "the candidate file is not text";
        "It holds a NUL byte.";
        "The first bad byte.";
        "Submit C source text."
    COMPILE_ERROR = 503, "the candidate does not compile";
        "The compiler reported an error.";
        "The compiler's message.";
        "Correct the source; `atb task show TASK` prints the header, `atb protocol show` the flags."
    COMPILE_TIMEOUT = 504, "the compiler ran out of time or memory";
        "The build took longer than the protocol allows.";
        "The limit.";
        "Simplify the source."
    ARTEFACT = 505, "the compiler left no usable shared object";
        "The artefact is missing, is not a plain file, or is too large.";
        "What was found instead.";
        "Check the source for directives that change the output."
    LOAD = 506, "the shared object cannot be loaded";
        "The loader refused it: an undefined symbol, or damaged content.";
        "The loader's message.";
        "Use only libc and libm."
    NO_SYMBOL = 507, "the kernel's symbol is missing";
        "The shared object does not export the function that the task names.";
        "The symbol.";
        "Define the function with the exact name and without `static`."
    PROTOTYPE = 508, "the kernel has another prototype";
        "kernel.h is included first, and the definition conflicts with it.";
        "The compiler's message.";
        "Use the prototype of `atb task show TASK`."
    WRONG_OUTPUT = 509, "an output is outside the tolerance";
        "Compared with the double-precision reference at the task's tolerance.";
        "Shape, output, row, value, reference and bound (shape only if it is public).";
        "Correct the kernel; `atb task show TASK` names the class of tolerance, `atb protocol show` its values."
    NOT_FINITE = 510, "an output is NaN or infinite";
        "Inputs are finite, so outputs must be.";
        "Shape, output and row.";
        "Check overflow, division by zero and uninitialised values."
    POISON_LEFT = 511, "an output element was never written";
        "Outputs are filled with a poison pattern before each call.";
        "Shape, output and element.";
        "Write every output element in every call."
    CRASHED = 512, "the candidate crashed";
        "The worker died by a signal or left early.";
        "The signal or exit status.";
        "Check bounds; dims may be odd and rows need not be aligned."
    CANDIDATE_TIMEOUT = 513, "the candidate did not return in time";
        "The worker was killed at the protocol's limit.";
        "The limit.";
        "Check loops for termination."
    CHECKS_SHORT = 514, "a row states fewer output checks than the protocol asks for, or a failed one";
        "Every timed call is checked; a row without its checks is not evidence.";
        "The run's `checks`.";
        "Measure with atb."
}
