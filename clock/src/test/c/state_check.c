// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Usage: check-state rseq|rseq-own|rseq-take
//
// Checks the state of the process: that a forked child does not find it, that the kill switch cannot be missed, and
// that a reading of a thread by its id is never smaller than what the thread last read of itself.

#include <pthread.h>
#include <sys/wait.h>

#include "taskclock.h"

static long intercepted_call(long number, long a, long b, long c, long d, long e, long f);

#define system_call intercepted_call
#include "kernel.c"
#include "backends.h"
#undef system_call

static int refuses_madvise;
static void (*during_test)(void);
static int64_t behind;  // by how much the kernel's clocks of threads are behind the counter
static int tested_backend;

static long intercepted_call(long number, long a, long b, long c, long d, long e, long f) {
    if (number == __NR_madvise && refuses_madvise) return -EINVAL;
    if (number == __NR_openat && during_test) {
        void (*call)(void) = during_test;
        during_test = 0;
        call();
    }
    long result = system_call(number, a, b, c, d, e, f);
    if (number == __NR_clock_gettime && a < 0 && result == 0) {
        struct __kernel_timespec *t = (struct __kernel_timespec *)b;
        int64_t nanos = t->tv_sec * NANOS_PER_SECOND + t->tv_nsec - behind;
        *t = (struct __kernel_timespec){nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND};
    }
    return result;
}

static void await_child(pid_t child) {
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

// ---- forked children

// Without MADV_WIPEONFORK, a forked child would use bases of its parent, so none may be taken.
static void check_refused_wipe(void) {
    pid_t child = fork();
    if (child == 0) {
        refuses_madvise = 1;
        clock_init();
        CHECK(select_backend(tested_backend) == PROBE_NOT_WIPED);
        CHECK(process.backend == BACKEND_SYSCALL && cpu_nanos() >= 0);
        _exit(0);
    }
    await_child(child);
}

// madvise works on whole pages, and the kernel's may be large.
static void check_alignment(void) {
    CHECK((uintptr_t)&process % MAX_KERNEL_PAGE == 0 && sizeof process % MAX_KERNEL_PAGE == 0);
}

static void check_fork(void) {
    CHECK(process.backend == tested_backend && process.inverted_marker && cpu_nanos() > 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK(process.backend == BACKEND_SYSCALL && !process.inverted_marker && !process.readings_page);
        int64_t before = reference_cpu_nanos(), cpu = cpu_nanos();
        CHECK(cpu >= before && cpu <= reference_cpu_nanos());
        _exit(0);
    }
    await_child(child);
}

// ---- the kill switch

static int64_t changes(void) {
    struct clock_report now;
    report(&now);
    CHECK(now.backend == process.backend && now.is_off == process.is_off);
    return now.changes;
}

static void select_off(void) { CHECK(select_backend(BACKEND_OFF) == PROBE_USABLE); }

static void check_kill_switch(void) {
    int64_t before = changes();
    select_off();
    CHECK(process.backend == BACKEND_SYSCALL);
    CHECK(select_backend(tested_backend) == PROBE_SWITCHED_OFF && process.backend == BACKEND_SYSCALL);
    machine_changed();
    CHECK(select_backend(tested_backend) == PROBE_SWITCHED_OFF && process.backend == BACKEND_SYSCALL);
    CHECK(select_backend(BACKEND_SYSCALL) == PROBE_USABLE && changes() == before + 1);
    select_backend(BACKEND_ON);
    CHECK(process.backend == BACKEND_SYSCALL && changes() == before + 2);
    CHECK(select_backend(tested_backend) == PROBE_USABLE && process.backend == tested_backend);
    select_backend(BACKEND_ON);
    CHECK(process.backend == tested_backend && changes() == before + 2);
}

// The process is switched off while a copy of the library is testing a backend.
static void check_switch_during_test(void) {
    machine_changed();
    during_test = select_off;
    CHECK(select_backend(tested_backend) == PROBE_SWITCHED_OFF && process.backend == BACKEND_SYSCALL && !during_test);
    select_backend(BACKEND_ON);
    CHECK(select_backend(tested_backend) == PROBE_USABLE);
}

// ---- readings by id

static int32_t own_id(void) { return (int32_t)(~(uint32_t)own_tid() << 3 | 6); }

// Reads the own clock between two bases, ahead of the kernel's. Returns 0 if a new base was taken.
static int64_t read_ahead(void) {
    struct thread_clock *t = own_clock();
    WRITE(process.life, UINT64_MAX / 2);
    behind = 0;
    for (int i = 0; i < 3; i++) cpu_nanos();
    int64_t base = (int64_t)t->base_cpu;
    while (reference_cpu_nanos() < base + 300000) {}
    int64_t cpu = cpu_nanos();
    return (int64_t)t->base_cpu == base && (int64_t)t->published->kernel_cpu == base ? cpu : 0;
}

static void check_own_reading(void) {
    int64_t cpu = 0;
    for (int i = 0; i < 1000 && !cpu; i++) cpu = read_ahead();
    CHECK(cpu);
    behind = 100000;
    CHECK(clock_nanos(own_id()) < cpu && thread_nanos(own_id()) >= cpu);
    CHECK(thread_nanos(OWN_SCHED) < thread_nanos(own_id()) + behind);
    behind = 0;
}

static void *read_and_end(void *tid) {
    for (int i = 0; i < 100; i++) cpu_nanos();
    *(int32_t *)tid = own_tid();
    return 0;
}

// The record of an ended thread with more CPU time does not count for a new thread with the same id.
static void check_reused_id(void) {
    struct own_reading *own = first_of(own_tid());
    while (own->tid != own_tid()) own = own->next;
    struct published_cpu before = own->last;
    own->last = (struct published_cpu){INT64_MAX / 2, INT64_MAX / 2 + 1000000, 0};
    CHECK(thread_nanos(own_id()) < (int64_t)before.cpu + NANOS_PER_SECOND);
    own->last = before;
}

// The number of records depends on how many threads live at the same time.
static void check_records(void) {
    int32_t tid;
    for (int i = 0; i < 3 * READING_CHAINS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, 0, read_and_end, &tid) == 0 && pthread_join(thread, 0) == 0);
        while (!thread_is_gone(tid)) {}
        CHECK(thread_nanos((int32_t)(~(uint32_t)tid << 3 | 6)) == -1);
    }
    int longest = 0;
    for (int i = 0; i < READING_CHAINS; i++) {
        int length = 0;
        for (struct own_reading *r = process.readings[i]; r; r = r->next) length++;
        if (length > longest) longest = length;
    }
    CHECK(longest <= 2);
}

int main(int count, char **arguments) {
    tested_backend = parse_backend(count, arguments);
    check_alignment();
    check_refused_wipe();
    clock_init();
    int32_t result = select_backend(tested_backend);
    if (result) {
        printf("check-state %s: NOT RUN because %s\n", arguments[1], probe_failure_text(result));
        return 0;
    }
    check_kill_switch();
    check_switch_during_test();
    check_fork();
    check_own_reading();
    check_reused_id();
    check_records();
    printf("check-state %s: passed\n", arguments[1]);
    return 0;
}
