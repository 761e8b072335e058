// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What copies of the library in one process share, the agent's library included, and how all of it calls the kernel.

#ifndef TASKCLOCK_SHARED_H
#define TASKCLOCK_SHARED_H

#include <asm-generic/errno-base.h>
#include <asm/unistd.h>
#include <linux/uio.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

#define NANOS_PER_SECOND 1000000000LL

enum { PAGE = 4096 };

// What threads share and any of them may write at any time. Plain loads and stores on every processor.
#define READ(variable) __atomic_load_n(&(variable), __ATOMIC_RELAXED)
#define WRITE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELAXED)

// Errors come back as -errno, as the kernel gives them. A list shorter than six arguments is padded with zeros.
#define SYSCALL_PICK(n, a, b, c, d, e, f, ...) \
    system_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SYSCALL(...) SYSCALL_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static inline int failed(long result) { return result < 0 && result > -PAGE; }

// By the kernel, which answers EFAULT where we would crash. 0 or -errno.
static inline long copy_memory(uint64_t address, void *into, uint64_t length) {
    struct iovec to = {into, length}, from = {(void *)address, length};
    long copied = SYSCALL(__NR_process_vm_readv, SYSCALL(__NR_getpid), &to, 1, &from, 1, 0);
    return failed(copied) ? copied : copied == (long)length ? 0 : -EFAULT;
}

static inline int thread_is_gone(int32_t tid) {
    return SYSCALL(__NR_tgkill, SYSCALL(__NR_getpid), tid, 0) == -ESRCH;
}

static inline int same(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

// Ids of the calling thread's CPU clocks: bits [31:3] are NOT the thread id (0: the caller), bit 2 says thread, bits
// [1:0] what is counted. The kernel answers them without looking the thread up (kernel/time/posix-cpu-timers.c).
enum { OWN_PROF = ~0u << 3 | 4 | 0, OWN_VIRT = ~0u << 3 | 4 | 1, OWN_SCHED = ~0u << 3 | 4 | 2 };

// ---- what copies of the library share

// A thread that carries virtual ones. Whoever has its address may read it at any time: it is never given back, but may
// become another thread's. What a virtual thread used is the carrier's time less an offset, for as long as turn is odd and
// stays the same.
struct carrier {
    int64_t tid;
    int64_t turn;                     // grows by one with each mount and unmount: odd while a thread is mounted
    int64_t cpu_offset, user_offset;  // carrier's time less the mounted thread's
    int64_t user;                     // of the thread that was unmounted last
    int64_t first_cpu, first_user;    // the carrier's time when it first carried,
    int64_t last_cpu, last_user;      // and at the last mount or unmount
    int64_t carried_cpu, carried_user;  // what virtual threads used on it
    int64_t index;                      // of this record, from 1; it stays when another thread gets the record
    int64_t padding[4];
};
enum { CARRIER_FIELDS = 12 };                                                      // of these 64-bit words
enum { VIRTUAL_CPU, VIRTUAL_USER, VIRTUAL_SYSTEM, VIRTUAL_NOW, VIRTUAL_LAST_USER };  // what virtualNanos is asked for

// What status() reports; -1 each where it is not known.
struct clock_report {
    int64_t counter_hertz, calibrated_over_nanos, calibration_resets;
    int64_t budget_nanos, life_nanos, observed_nanos, ahead_nanos;
    int64_t restores;  // from a checkpoint, after which the rung is to be chosen anew
};

// The functions that read, as one table. The first copy of the library in a process publishes its table; later copies,
// in other class loaders or other packages, call through it. A field is never removed or moved while ABI is the same.
enum { TASKCLOCK_ABI = 2 };
#define TASKCLOCK_ABI_NAME "taskclock-abi2"
#define TASKCLOCK_MAGIC 0x6b636f6c636b7361u
struct functions {
    uint64_t magic;
    uint32_t abi;
    uint32_t size;
    const char *identity;  // in the library's own file: see shared.c
    int64_t (*cpuNanos)(void);
    int64_t (*userNanos)(void);
    int64_t (*systemNanos)(void);
    int64_t (*nowCpuNanos)(void);
    int64_t (*nowUserNanos)(void);
    int64_t (*clockNanos)(int32_t id);
    int64_t (*tickStamp)(void);
    int32_t (*selectRung)(int32_t rung);
    void (*setAccuracy)(int64_t budget_nanos);
    void (*report)(struct clock_report *into);
    void (*machineChanged)(void);
    int64_t (*virtualNanos)(int32_t what);
    int64_t (*mount)(int64_t cpu, int64_t user);
    int64_t (*unmount)(void);
    void (*stopCarrying)(void);
    int32_t (*carriers)(int64_t *into, int32_t capacity);
};

// How cpu is read. The numbers are those of org.taskclock.Rung; 0 is right before anything is known.
enum { RUNG_SYSCALL, RUNG_RSEQ, RUNG_RSEQ_OWN };

// What selectRung answers: why the rung is not usable, or that it is. Rungs.java has the words.
enum {
    PROBE_USABLE,
    PROBE_COUNTER,            // the time-stamp counter is not steady
    PROBE_COUNTER_FORBIDDEN,  // this process may not read it
    PROBE_LIBC_DOES_NOT,      // libc has registered no area
    PROBE_LIBC_DOES,          // libc has, so we cannot
    PROBE_NOT_REGISTERED,     // the kernel refuses, or does not know this thread's area
    PROBE_NO_CHILD,           // there is no process to try it in
    PROBE_CANNOT_PIN,
    PROBE_CHILD_DIED,         // the kernel ended it for the marker
    PROBE_KEPT_BLOCKED,       // blocking does not remove the marker
    PROBE_KEPT_PREEMPTED,     // nor does being preempted
    PROBE_NOT_PREEMPTED,      // which did not happen
    PROBE_LOST,               // every system call removes it
    PROBE_NO_RATE,            // the counter's rate does not settle
    PROBE_MEMORY
};

// ---- shared.c

// What came of looking for the page of an earlier copy, and of publishing ours.
struct sharing {
    int error;          // errno with which no page can be had; 0 if there is one
    const char *step;   // that failed, or null
    int foreign_pages;  // that have the name and are not ours
};
const struct functions *find_shared_functions(struct sharing *sharing);  // of an earlier copy in this process, or null
const struct functions *shared_functions(const struct functions *own, struct sharing *sharing);

#endif
