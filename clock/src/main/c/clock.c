// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The calling thread's clock: cpu by one system call, user and system so that they add up to it.

#include "taskclock.h"

#include <linux/fcntl.h>
#include <linux/time_types.h>

// What linux/resource.h declares, less the fields that nobody here reads.
enum { THREAD_ONLY = 1 };  // RUSAGE_THREAD
struct usage {
    int64_t user_seconds, user_micros, system_seconds, system_micros, others[14];
};

// What the last reading on this thread said, and what getrusage said at the last tick.
struct thread_clock {
    uint64_t cpu, user;
    int64_t tick;
    uint64_t measured_user, measured_cpu;
    uint64_t user_share;  // of 2^32
};

// gnu2 thread-local storage (Makefile) needs no libc function and works in a library that is loaded late.
static __thread struct thread_clock self;

static int precise;

static int64_t clockNanos(int32_t id) {
    struct __kernel_timespec t;
    if (SYSCALL(__NR_clock_gettime, id, &t) != 0) return -1;
    return t.tv_sec * NANOS_PER_SECOND + t.tv_nsec;
}

int64_t clock_resolution(int32_t id) {
    struct __kernel_timespec t;
    if (SYSCALL(__NR_clock_getres, id, &t) != 0) return -1;
    return t.tv_sec * NANOS_PER_SECOND + t.tv_nsec;
}

long rusage_of_thread(int64_t *user, int64_t *system) {
    struct usage u;
    long result = SYSCALL(__NR_getrusage, THREAD_ONLY, &u);
    if (result != 0) return result;
    *user = u.user_seconds * NANOS_PER_SECOND + u.user_micros * 1000;
    *system = u.system_seconds * NANOS_PER_SECOND + u.system_micros * 1000;
    return 0;
}

// With nohz_full= the kernel measures user and system time at each entry and exit; getrusage then moves between ticks.
static int file_names_a_cpu(const char *path) {
    char text[256];
    long fd = SYSCALL(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    long length = SYSCALL(__NR_read, fd, text, sizeof text);
    SYSCALL(__NR_close, fd);
    for (long i = 0; i < length; i++)
        if (text[i] >= '0' && text[i] <= '9') return 1;
    return 0;
}

void clock_init(void) {
    vdso_init();
    precise = file_names_a_cpu("/sys/devices/system/cpu/nohz_full");
}

int clock_is_precise(void) { return precise; }

int clock_probe(void) {
    struct __kernel_timespec t;
    int64_t user, system;
    long result = SYSCALL(__NR_clock_gettime, OWN_SCHED, &t);
    return (int)-(result != 0 ? result : rusage_of_thread(&user, &system));
}

// part / whole in units of 2^-32; the shift keeps the numerator inside 64 bits.
static uint64_t share(uint64_t part, uint64_t whole) {
    while (whole >> 31) {
        whole >>= 1;
        part >>= 1;
    }
    return whole ? (part << 32) / whole : 1ull << 32;
}

static void measure(struct thread_clock *t) {
    int64_t user, system;
    if (rusage_of_thread(&user, &system) != 0) return;
    t->measured_user = (uint64_t)user;
    t->measured_cpu = (uint64_t)(user + system);
    t->user_share = share(t->measured_user, t->measured_cpu);
}

// One consistent reading. getrusage is as old as the last tick, so what came since is split in its own proportion (as
// the kernel's cputime_adjust would), and the sum is steered there: neither part gets more than the whole grew by, so
// nothing goes backwards and no error outlives the tick after it.
static void read_clock(struct thread_clock *t) {
    int64_t tick = coarse_nanos();
    if (tick != t->tick || precise) {
        measure(t);
        t->tick = tick;
    }
    uint64_t cpu = (uint64_t)clockNanos(OWN_SCHED);
    if (cpu < t->cpu) t->cpu = t->user = 0;  // restored from a checkpoint: the kernel counts anew
    uint64_t grown = cpu - t->cpu;
    uint64_t since = cpu > t->measured_cpu ? cpu - t->measured_cpu : 0;
    uint64_t user = t->measured_user + (uint64_t)(((unsigned __int128)since * t->user_share) >> 32);
    if (user < t->user) user = t->user;
    if (user > t->user + grown) user = t->user + grown;
    t->cpu = cpu;
    t->user = user;
}

static int64_t cpuNanos(void) { return clockNanos(OWN_SCHED); }

static int64_t userNanos(void) {
    struct thread_clock *t = &self;
    read_clock(t);
    return (int64_t)t->user;
}

static int64_t systemNanos(void) {
    struct thread_clock *t = &self;
    read_clock(t);
    return (int64_t)(t->cpu - t->user);
}

// Two calls give one reading: the first takes it, the second tells its user part.
static int64_t nowCpuNanos(void) {
    struct thread_clock *t = &self;
    read_clock(t);
    return (int64_t)t->cpu;
}

static int64_t nowUserNanos(void) { return (int64_t)self.user; }

const struct functions own_functions = {
    .magic = 0x6b636f6c636b7361,
    .abi = TASKCLOCK_ABI,
    .size = sizeof(struct functions),
    .cpuNanos = cpuNanos,
    .userNanos = userNanos,
    .systemNanos = systemNanos,
    .nowCpuNanos = nowCpuNanos,
    .nowUserNanos = nowUserNanos,
    .clockNanos = clockNanos,
    .tickStamp = coarse_nanos,
};
