// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The native half of TaskClock. It uses raw system calls and no libc, so one library serves glibc and musl alike.
//
//   clock.c    reads the kernel's CPU clocks; holds the state of each thread
//   rseq.c     how to notice that a thread was switched out, without asking
//   vdso.c     the coarse clock that tells ticks apart without a system call
//   shared.c   lets all copies of this library in one process use the first one's functions and state
//   threads.c  reads many threads at once
//   hotspot.c  from a java.lang.Thread to its kernel thread id
//   jni.c      what Java calls

#ifndef TASKCLOCK_H
#define TASKCLOCK_H

#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

#define NANOS_PER_SECOND 1000000000LL

// What threads share and any of them may write at any time. Plain loads and stores on every processor.
#define READ(variable) __atomic_load_n(&(variable), __ATOMIC_RELAXED)
#define WRITE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELAXED)

// Errors come back as -errno, as the kernel gives them. A list shorter than six arguments is padded with zeros.
#define SYSCALL_PICK(n, a, b, c, d, e, f, ...) \
    system_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SYSCALL(...) SYSCALL_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static inline int thread_is_gone(int32_t tid) {
    enum { NO_SUCH_THREAD = 3 };  // ESRCH
    return SYSCALL(__NR_tgkill, SYSCALL(__NR_getpid), tid, 0) == -NO_SUCH_THREAD;
}

static inline int same(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

// Ids of the calling thread's CPU clocks: bits [31:3] are NOT the thread id (0: the caller), bit 2 says thread, bits
// [1:0] what is counted. The kernel answers them without looking the thread up (kernel/time/posix-cpu-timers.c).
enum { OWN_PROF = ~0u << 3 | 4 | 0, OWN_VIRT = ~0u << 3 | 4 | 1, OWN_SCHED = ~0u << 3 | 4 | 2 };

// The functions that read, as one table. The first copy of the library in a process publishes its table; later copies,
// in other class loaders or other packages, call through it. A field is never removed or moved while ABI is the same.
enum { TASKCLOCK_ABI = 1 };
#define TASKCLOCK_MAGIC 0x6b636f6c636b7361u
struct calibration {  // -1 each while it is not known
    int64_t counter_hertz, over_nanos, base_nanos;
};
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
    int64_t padding[5];
};
enum { VIRTUAL_CPU, VIRTUAL_USER, VIRTUAL_SYSTEM, VIRTUAL_NOW, VIRTUAL_LAST_USER };  // what virtualNanos is asked for
struct functions {
    uint64_t magic;
    uint32_t abi;
    uint32_t size;
    int64_t (*cpuNanos)(void);
    int64_t (*userNanos)(void);
    int64_t (*systemNanos)(void);
    int64_t (*nowCpuNanos)(void);
    int64_t (*nowUserNanos)(void);
    int64_t (*clockNanos)(int32_t id);
    int64_t (*tickStamp)(void);
    int32_t (*selectRung)(int32_t rung);
    void (*calibration)(struct calibration *into);
    int64_t (*virtualNanos)(int32_t what);
    int64_t (*mount)(int64_t cpu, int64_t user);
    int64_t (*unmount)(void);
    void (*stopCarrying)(void);
    int32_t (*carriers)(const struct carrier **into);
};

// How cpu is read. The numbers are those of org.taskclock.Rung.
enum { RUNG_RSEQ, RUNG_RSEQ_OWN, RUNG_SYSCALL };

// What selectRung answers: why the rung is not usable, or that it is.
enum {
    PROBE_USABLE,
    PROBE_COUNTER,         // the time-stamp counter is not steady
    PROBE_LIBC_DOES_NOT,   // libc has registered no area
    PROBE_LIBC_DOES,       // libc has, so we cannot
    PROBE_NOT_REGISTERED,  // the kernel refuses, or does not know this thread's area
    PROBE_CANNOT_PIN,
    PROBE_MARKER_KEPT,     // blocking does not remove the marker
    PROBE_MEMORY
};

// clock.c
void clock_init(void);
int clock_probe(void);              // 0, or the errno with which this kernel refuses what the clock needs
int clock_is_precise(void);         // whether user and system are measured rather than sampled at ticks
int64_t clock_resolution(int32_t id);
long rusage_of_thread(int64_t *user, int64_t *system);  // 0 or -errno
int64_t switches_of_thread(void);   // how often the calling thread was switched out, -1 if unknown
extern const struct functions own_functions;

long read_file(const char *path, char *text, long length);  // bytes read, 0 if none

// rseq.c
// In this library, so no table of addresses stands before it.
extern uint64_t rseq_marker __attribute__((visibility("hidden")));  // what is left in a marker's place; 0 before rseq_prepare
int rseq_prepare(int rung);
volatile uint64_t *rseq_marker_place(int rung);
int rseq_kept_markers(volatile uint64_t *place);

// vdso.c
void vdso_init(void);
int64_t coarse_nanos(void);
int64_t raw_clock_nanos(void);  // CLOCK_MONOTONIC_RAW

// shared.c
const struct functions *find_shared_functions(void);  // of an earlier copy in this process; null if there is none
const struct functions *shared_functions(const struct functions *own, int *error);

// threads.c
int32_t list_threads(int32_t *tids, int32_t capacity);
int64_t raw_nanos(int32_t id, int32_t count);
int32_t own_tid(void);

// hotspot.c
int hotspot_init(void);
int32_t hotspot_tid(uint64_t java_thread);

#endif
