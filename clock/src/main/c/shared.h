// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The interface between copies of the library in one process, including the agent's library, and system call macros.

#ifndef TASKCLOCK_SHARED_H
#define TASKCLOCK_SHARED_H

#include <asm-generic/errno-base.h>
#include <asm/unistd.h>
#include <linux/uio.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

#define NANOS_PER_SECOND 1000000000LL

// The unit in which we request and use memory. The kernel's pages may be larger; see MAX_KERNEL_PAGE.
enum { PAGE = 4096 };

// Access to variables that any thread may write at any time. These are plain loads and stores on every processor.
#define READ(variable) __atomic_load_n(&(variable), __ATOMIC_RELAXED)
#define WRITE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELAXED)

// Returns errors as -errno, as the kernel does. Missing arguments are padded with zeros, up to six.
#define SYSCALL_PICK(n, a, b, c, d, e, f, ...) \
    system_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SYSCALL(...) SYSCALL_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static inline int failed(long result) { return result < 0 && result > -PAGE; }

// Copies memory through the kernel, which returns EFAULT if a plain load would crash. Returns 0 or -errno.
static inline long copy_memory(uint64_t address, void *into, uint64_t length) {
    struct iovec to = {into, length}, from = {(void *)address, length};
    long copied = SYSCALL(__NR_process_vm_readv, SYSCALL(__NR_getpid), &to, 1, &from, 1, 0);
    return failed(copied) ? copied : copied == (long)length ? 0 : -EFAULT;
}

static inline int thread_is_gone(int32_t tid) {
    return SYSCALL(__NR_tgkill, SYSCALL(__NR_getpid), tid, 0) == -ESRCH;
}

static inline int strings_equal(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

static inline int starts_with(const char *text, const char *prefix) {
    while (*prefix && *text == *prefix) text++, prefix++;
    return !*prefix;
}

// Ids of the calling thread's CPU clocks. Bits [31:3] are the bitwise complement of the thread id (0: the caller), bit
// 2 marks a thread clock, and bits [1:0] select what is counted. For id 0 the kernel needs no thread lookup
// (kernel/time/posix-cpu-timers.c).
enum { OWN_PROF = ~0u << 3 | 4 | 0, OWN_VIRT = ~0u << 3 | 4 | 1, OWN_SCHED = ~0u << 3 | 4 | 2 };

// ---- shared between copies of the library

// The record of a thread that carries virtual threads. Any thread may read it at any time: it is never freed, but may
// be reused by another carrier. The CPU time of the mounted virtual thread is the kernel's clock minus an offset, as
// long as sequence is odd and does not change.
struct carrier {
    // On one cache line: what mounts and unmounts use.
    int32_t tid;
    int32_t index;                      // number of this record, from 1; kept when another thread reuses it
    int64_t sequence;                   // incremented at each mount and unmount: odd while a thread is mounted
    int64_t cpu_offset;                 // the kernel's clock of the carrier minus the time of the mounted thread
    int64_t user_offset;                // the carrier's user time minus that of the thread that was mounted last
    int64_t last_cpu, last_user;        // the carrier's time at the last mount or unmount
    int64_t carried_cpu, carried_user;  // the time that virtual threads used on it
    int64_t first_cpu, first_user;      // the carrier's time at its first mount
    int64_t questions, splits;          // how often the kernel was asked for CPU time, and for the split
    int64_t padding[4];
};
enum { CARRIER_FIELDS = 12 };  // of 64 bits, without the padding; tid is the lower half of the first one
// Arguments of virtualNanos. VIRTUAL_NOW_CPU takes a reading, and VIRTUAL_NOW_USER returns its user part.
// VIRTUAL_POINT is the CPU time for differences only, as is VIRTUAL_NOW_CPU.
enum { VIRTUAL_CPU, VIRTUAL_USER, VIRTUAL_SYSTEM, VIRTUAL_NOW_CPU, VIRTUAL_NOW_USER, VIRTUAL_POINT };
// Where the CPU time of a virtual thread starts if it also ran without being accounted for. The time is negative then,
// so that it is not taken for the thread's total. Its user time starts at 0.
static const int64_t PARTIAL_ORIGIN = INT64_MIN / 2;

// The values that TaskClock.status() reports; -1 if unknown.
struct clock_report {
    int64_t counter_hertz, calibrated_over_nanos, calibration_resets;
    int64_t budget_nanos, life_nanos, observed_nanos, ahead_nanos;
    int64_t restores;  // from a checkpoint
    // Restores, and calls with BACKEND_ON or BACKEND_NO_TAKE. After each, the backend must be selected again.
    int64_t changes;
    int64_t backend;   // in use now
    int64_t is_off;    // 1 after BACKEND_OFF, 0 after BACKEND_ON
};

// The table of clock functions. The first copy of the library in a process publishes its table; later copies, in other
// class loaders or packages, call through it. Fields must not be removed or moved within one ABI number.
enum { TASKCLOCK_ABI = 4 };
#define TASKCLOCK_ABI_NAME "taskclock-abi4"
#define TASKCLOCK_MAGIC 0x6b636f6c636b7361u
struct functions {
    uint64_t magic;
    uint32_t abi;
    uint32_t size;
    const char *identity;  // in the library's own file; see shared.c
    int64_t (*cpuNanos)(void);
    int64_t (*userNanos)(void);
    int64_t (*systemNanos)(void);
    int64_t (*nowCpuNanos)(void);
    int64_t (*nowUserNanos)(void);
    int64_t (*clockNanos)(int32_t id);
    int64_t (*tickStamp)(void);
    int32_t (*selectBackend)(int32_t backend);
    void (*setAccuracy)(int64_t budget_nanos);
    void (*report)(struct clock_report *into);
    void (*machineChanged)(void);
    int64_t (*virtualNanos)(int32_t value);
    int64_t (*mount)(int64_t cpu, int64_t user);
    int64_t (*unmount)(void);
    void (*stopCarrying)(void);
    int32_t (*carriers)(int64_t *into, int32_t capacity);
    void *(*sharedObject)(void *candidate);
    int32_t (*startContexts)(void);
    void *(*threadContext)(void);
    void (*mountContext)(int64_t record);
    int32_t (*publishContext)(const void *payload, int32_t length);
};

// The ways to read CPU time. The numbers are those of org.taskclock.Backend. 0 is the state before selection.
enum { BACKEND_SYSCALL, BACKEND_RSEQ, BACKEND_RSEQ_OWN, BACKEND_RSEQ_TAKE, BACKENDS };
// Arguments of selectBackend that are no backends: the kill switch of the process, which all copies obey. After
// BACKEND_OFF, the system call is in use and no other backend can be selected until BACKEND_ON. BACKEND_NO_TAKE selects
// the system call instead of BACKEND_RSEQ_TAKE.
enum { BACKEND_OFF = -1, BACKEND_ON = -2, BACKEND_NO_TAKE = -3 };

// Results of selectBackend: usable, or the reason why not. Backends.java has the messages.
enum {
    PROBE_USABLE,
    PROBE_COUNTER_UNRELIABLE,    // the time-stamp counter may stop or change its rate
    PROBE_COUNTER_FORBIDDEN,     // this process may not read the counter
    PROBE_LIBC_UNREGISTERED,     // libc has not registered an area
    PROBE_LIBC_REGISTERED,       // libc has registered an area, so we cannot
    PROBE_REGISTRATION_REFUSED,  // the kernel refuses to register an area
    PROBE_NO_CHILD,              // no child process can be started
    PROBE_CANNOT_PIN,            // sched_setaffinity fails
    PROBE_CHILD_DIED,            // the kernel killed the child because of the marker
    PROBE_KEPT_BY_BLOCKING,      // blocking does not remove the marker
    PROBE_KEPT_BY_PREEMPTION,    // preemption does not remove the marker
    PROBE_NOT_PREEMPTED,         // the child was never preempted
    PROBE_CLEARED_BY_SYSCALLS,   // every system call removes the marker
    PROBE_NO_RATE,               // the counter's rate does not settle
    PROBE_OUT_OF_MEMORY,
    PROBE_COUNTER_SLOW,  // reading the counter takes longer than asking the kernel
    PROBE_SWITCHED_OFF,  // by BACKEND_OFF
    PROBE_NOT_WIPED,     // a forked child would find our state, because madvise fails
    PROBE_RSEQ_USED,     // other code uses restartable sequences
    PROBE_OTHER_MARKER,  // threads of this process use the marker of another backend
    PROBE_LIBC_AREA      // the length of libc's area is unknown
};

// ---- shared.c

// The result of looking for the page of an earlier copy and of publishing ours.
struct sharing {
    int error;                // errno of the failure to create a page; 0 if there is one
    const char *failed_call;  // the system call that failed; null if none did
    int foreign_pages;        // pages with our name that are not ours
};
const struct functions *find_shared_functions(struct sharing *sharing);  // an earlier copy's table, or null
const struct functions *shared_functions(const struct functions *own, struct sharing *sharing);

#endif
