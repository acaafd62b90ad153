//! System calls by what they are needed for.

/// Number and name.
pub(super) type Call = (libc::c_long, &'static str);

macro_rules! calls {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name))),*] };
}

/// What running code may always ask for: memory, clocks, sleep, its own number.
pub(super) const RUNNING: &[Call] = calls! {
    SYS_brk SYS_munmap
    SYS_futex SYS_sched_yield SYS_nanosleep SYS_clock_nanosleep SYS_restart_syscall
    SYS_clock_gettime SYS_clock_getres SYS_gettimeofday SYS_getrandom
    SYS_getpid SYS_gettid SYS_getcpu
    SYS_rt_sigprocmask SYS_rt_sigreturn SYS_exit SYS_exit_group
};

/// What running code may ask for with some arguments only.
pub(super) const BY_ARGUMENT: &[Call] = calls! {
    SYS_mmap SYS_mprotect SYS_mremap SYS_madvise SYS_read SYS_write SYS_writev SYS_rt_sigaction SYS_tgkill
};

/// What running code may ask for in vain: the C library looks at standard output before it prints, and OpenBLAS at its memory's nodes.
pub(super) const IN_VAIN: &[Call] = calls! { SYS_newfstatat SYS_fstat SYS_ioctl SYS_mbind };

/// What loading needs beyond that, with the start of a vendor's library, and the second stage of the jail itself.
#[cfg(target_arch = "x86_64")]
pub(super) const LOADING: &[Call] = calls! {
    SYS_openat SYS_close SYS_pread64 SYS_lseek SYS_statx SYS_readlink SYS_readlinkat SYS_access
    SYS_faccessat SYS_getdents64 SYS_fcntl SYS_dup SYS_open SYS_stat SYS_lstat
    SYS_sched_getaffinity SYS_sysinfo SYS_uname SYS_getrusage SYS_get_mempolicy
    SYS_sigaltstack SYS_arch_prctl SYS_prctl SYS_prlimit64 SYS_getrlimit
    SYS_set_robust_list SYS_set_tid_address SYS_rseq SYS_getuid SYS_geteuid SYS_getgid SYS_getegid
    SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self SYS_seccomp
};

/// What loading needs beyond that, with the start of a vendor's library, and the second stage of the jail itself.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const LOADING: &[Call] = calls! {
    SYS_openat SYS_close SYS_pread64 SYS_lseek SYS_statx SYS_readlinkat
    SYS_faccessat SYS_getdents64 SYS_fcntl SYS_dup
    SYS_sched_getaffinity SYS_sysinfo SYS_uname SYS_getrusage SYS_get_mempolicy
    SYS_sigaltstack SYS_prctl SYS_prlimit64
    SYS_set_robust_list SYS_set_tid_address SYS_rseq SYS_getuid SYS_geteuid SYS_getgid SYS_getegid
    SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self SYS_seccomp
};

/// What an interpreter needs to start beyond what loading needs: to be started, and to know where it is.
pub(super) const STARTING: &[Call] = calls! { SYS_execve SYS_getcwd SYS_faccessat2 };

/// What a compiler may not ask for.
pub(super) const NOT_BUILDING: &[Call] = calls! {
    SYS_socket SYS_socketpair SYS_connect SYS_bind SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
    SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_pidfd_open SYS_pidfd_getfd SYS_pidfd_send_signal SYS_kcmp
    SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_open_by_handle_at
    SYS_fsopen SYS_fsmount SYS_move_mount SYS_open_tree SYS_mount_setattr
    SYS_keyctl SYS_add_key SYS_request_key SYS_bpf SYS_perf_event_open SYS_userfaultfd
    SYS_shmget SYS_shmat SYS_semget SYS_msgget SYS_mq_open
    SYS_clock_settime SYS_settimeofday SYS_adjtimex SYS_clock_adjtime SYS_sethostname SYS_setdomainname
    SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setattr SYS_sched_setparam SYS_setpriority
    SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_reboot SYS_swapon SYS_swapoff SYS_acct SYS_quotactl
    SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr
    SYS_personality SYS_mknodat SYS_utimensat SYS_setsid SYS_setpgid SYS_kill SYS_tkill
};

/// The older forms of such calls.
#[cfg(target_arch = "x86_64")]
pub(super) const NOT_BUILDING_OLDER: &[Call] =
    calls! { SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat SYS_mknod SYS_iopl SYS_ioperm };

/// The older forms of such calls, which this processor never had.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const NOT_BUILDING_OLDER: &[Call] = &[];

/// The name of a call, if this program names it anywhere.
pub(crate) fn name_of(number: i64) -> Option<&'static str> {
    let known = [RUNNING, BY_ARGUMENT, IN_VAIN, LOADING, STARTING, NOT_BUILDING, NOT_BUILDING_OLDER, OTHERS];
    let found = known.into_iter().flatten().find(|(of, _)| *of == number)?;
    Some(found.1.trim_start_matches("SYS_"))
}

/// Calls that are refused everywhere and only have a name here.
const OTHERS: &[Call] = calls! {
    SYS_clone SYS_clone3 SYS_execveat SYS_wait4 SYS_setitimer SYS_timer_create
    SYS_timerfd_create SYS_memfd_create SYS_setuid SYS_setgid SYS_setresuid SYS_setresgid SYS_mlock SYS_mlockall
    SYS_unlinkat SYS_renameat2 SYS_linkat SYS_symlinkat SYS_mkdirat SYS_truncate SYS_ftruncate SYS_fallocate
    SYS_sendto SYS_recvfrom SYS_sendmsg SYS_recvmsg SYS_listen SYS_accept4 SYS_pipe2 SYS_eventfd2 SYS_epoll_create1
    SYS_inotify_init1 SYS_signalfd4 SYS_membarrier SYS_get_robust_list SYS_capset SYS_name_to_handle_at
};
