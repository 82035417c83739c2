/* Runs a program which makes no system calls but Nearcall's and its own: `confine PROGRAM ARGUMENT…`,
 * the program by its path. docs/system-calls.md shows it. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nearcall_system_calls.h"

/* What it takes to begin a program that libraries are loaded for, what streams of C look at, and
 * what the interpreter of Python does. */
#define OWN_SYSTEM_CALLS(DO) \
    DO(execve) DO(access) DO(arch_prctl) DO(set_tid_address) \
    DO(newfstatat) DO(pread64) \
    DO(epoll_wait) DO(getcwd) DO(getdents64) DO(getegid) DO(getgid) DO(getpeername) DO(getuid) \
    DO(ioctl) DO(lseek) DO(mbind) DO(readlink) DO(recvfrom) DO(rename) DO(rt_sigreturn) \
    DO(sendto) DO(sysinfo) DO(uname)

#define LET_THROUGH(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),

static struct sock_filter rules[] = {
    /* To other processors the numbers are other calls. */
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    NEARCALL_CALLING_SYSTEM_CALLS(LET_THROUGH)
    NEARCALL_BINDING_SYSTEM_CALLS(LET_THROUGH)
    OWN_SYSTEM_CALLS(LET_THROUGH)
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

int main(int count, char **arguments) {
    const struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        perror("confine");
        return 2;
    }
    execv(arguments[1], arguments + 1);
    perror(arguments[1]);
    return 2;
}
