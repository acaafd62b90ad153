//! 4xx: the machine: quiet, sessions, compiler, workers.

super::codes! {
    NOT_QUIET = 401, "the machine is not quiet";
        "Other work kept the processors busier than the protocol allows.";
        "Busy share, steal and the limit.";
        "Stop the other work and try again, or pass --exploratory for rows that can never be a headline."
    SESSION_EXPIRED = 402, "the session is older than the protocol allows";
        "Controls and calibration belong to one session of one boot.";
        "The session's start and the row's time.";
        "Continue with --resume, which opens a new session."
    NO_COMPILER = 403, "no C compiler was found";
        "Candidates are compiled on this machine.";
        "The names that were tried.";
        "Install gcc (Debian: apt install gcc libc6-dev), or set ATB_CC to a compiler's path."
    WORKER_START = 404, "a worker process could not be started";
        "The harness failed, not the candidate.";
        "The step that failed and the system's reason.";
        "Run `atb doctor`; report this if the machine has memory and file descriptors left."
    CONTROL = 405, "a control of the session reads what cannot be";
        "The hand-off costs too much, a known delay reads off, a kernel differs from itself, or an injected slowdown is not seen: the session proves nothing. A session whose clock is off is replaced twice, then the campaign is closed as void.";
        "The control, what it must read, and what it reads.";
        "Run `atb doctor`, quiet the machine, and measure again."
    ISOLATION = 406, "the isolation is below what the protocol asks for";
        "A canary asks, in the jail of the workers, for everything that a kernel must not get; what it is refused is the level. Below the protocol's level rows are exploratory.";
        "The level with its flags, the level that the protocol asks for, and what the canary got.";
        "Run `atb doctor`; use a kernel with seccomp and Landlock, or pass --exploratory for rows that can never be a headline."
    NO_INTERPRETER = 407, "no Python interpreter was found";
        "Candidates of Python tasks run in the CPython of this machine, 3.8 or newer, with its modules ctypes and mmap.";
        "The paths that were tried.";
        "Install python3 (Debian: apt install python3), or set ATB_PYTHON to an interpreter's path."
}
