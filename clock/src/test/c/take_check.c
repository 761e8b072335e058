// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Usage: check-take LIBRARY
//
// Checks that areas are taken from libc and given back. LIBRARY is one that uses restartable sequences.

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "kernel.c"
#include "backends.h"

extern char **environ;

enum { THREADS = 500, CPUS = 1024 };

// What the host may steal between two bases.
static const int64_t TOLERANCE = 6000000;  // ns

// What libc sees in its area; negative if the area is not registered.
static int32_t libc_cpu(void) { return READ(libc_area()->cpu_id); }

static int is_registered_by_libc(void) { return register_area(libc_area(), libc_length) == -EBUSY; }

static int is_taken(void) {
    struct area *ours = has_marker(&self) ? (struct area *)(self.marker - 2) : 0;
    return ours && register_area(ours, sizeof *ours) == -EBUSY;
}

// A thread asks the kernel, and gives its area back, when its base has expired.
static void read_clock_until(int taken) {
    int64_t end = reference_cpu_nanos() + NANOS_PER_SECOND;
    while (is_taken() != taken && reference_cpu_nanos() < end) own_functions.cpuNanos();
    CHECK(is_taken() == taken);
}

static void check_taken(void) {
    int is_known = libc_cpu() < 0 && !is_registered_by_libc();
    CHECK(is_known && sched_getcpu() >= 0 && sched_getcpu() < CPUS);
    int64_t without_kernel = 0, last = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t cpu = own_functions.cpuNanos();
        CHECK(cpu >= last);
        last = cpu;
        without_kernel += self.life != 0;
    }
    CHECK(without_kernel > 500);
}

static void check_given_back(void) {
    CHECK(!has_marker(&self) && libc_cpu() >= 0 && is_registered_by_libc());
    CHECK(libc_cpu() < CPUS && sched_getcpu() >= 0);
}

// Holds a lock, so that a busy host does not shorten the life of bases.
static void take(void) {
    CHECK(own_functions.selectBackend(BACKEND_RSEQ_TAKE) == PROBE_USABLE);
    accuracy_lock = 1;
    process.life = ((uint64_t)NANOS_PER_SECOND / 1000 << 32) / process.nanos_per_count;
}

// ---- threads

static void *run_thread(void *started_by_taken) {
    CHECK((libc_cpu() < 0) == (started_by_taken != 0));
    read_clock_until(1);
    check_taken();
    own_functions.selectBackend(BACKEND_SYSCALL);
    read_clock_until(0);
    check_given_back();
    take();
    read_clock_until(1);
    return 0;
}

static void *end_while_taken(void *unused) {
    (void)unused;
    read_clock_until(1);
    return 0;
}

static void run(void *(*function)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, 0, function, argument) == 0);
    CHECK(pthread_join(thread, 0) == 0);
}

static int count_areas(void) {
    int count = 0;
    for (void *slot = 0; (slot = next_slot(&process.areas, sizeof(struct area_slot), slot));) count++;
    return count;
}

static void check_threads(void) {
    run(run_thread, 0);  // this thread's area is not taken yet
    read_clock_until(1);
    run(run_thread, &self);
    for (int i = 0; i < THREADS; i++) run(end_while_taken, 0);
    CHECK(count_areas() < THREADS);
    CHECK(is_taken());
}

// ---- signals

static int handlers;

static void read_in_handler(int signal) {
    (void)signal;
    CHECK(own_functions.cpuNanos() > 0);
    handlers++;
}

// A handler may give the area back, or take it, at any instruction of a reading.
static void check_signals(void) {
    struct sigaction action = {.sa_handler = read_in_handler};
    CHECK(sigaction(SIGALRM, &action, 0) == 0);
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &often, 0) == 0);
    // Under emulation, everything takes long.
    int64_t last = 0, end = reference_cpu_nanos() + 3 * NANOS_PER_SECOND;
    for (int round = 0; round < 2000 && (reference_cpu_nanos() < end || handlers <= 100); round++) {
        if (round % 2) CHECK(own_functions.selectBackend(BACKEND_NO_TAKE) == PROBE_USABLE);
        else take();
        for (int i = 0; i < 2000; i++) {
            int64_t before = reference_cpu_nanos(), cpu = own_functions.cpuNanos(), after = reference_cpu_nanos();
            CHECK(cpu >= last && cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
            last = cpu;
        }
    }
    CHECK(setitimer(ITIMER_REAL, &never, 0) == 0);
    CHECK(handlers > 100);
    take();
    read_clock_until(1);
}

// ---- children

static void check_children(const char *program) {
    char *arguments[] = {(char *)program, "child", 0};
    for (int by_fork = 0; by_fork <= 2; by_fork++) {
        pid_t child;
        int status;
        if (by_fork == 0) {
            CHECK(posix_spawn(&child, program, 0, 0, arguments, environ) == 0);
        } else {
            child = by_fork == 1 ? fork() : vfork();
            if (!child) _exit(execv(program, arguments));
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK(is_taken());
        check_taken();
    }
    pid_t child = fork();
    if (!child) {
        CHECK(is_taken());
        own_functions.cpuNanos();
        check_given_back();
        take();
        read_clock_until(1);
        check_taken();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(is_taken());
}

// ---- other users

// A thread whose area contains the address of a descriptor runs a restartable sequence, or has run one just now.
static void *keep_used_area(void *unused) {
    (void)unused;
    CHECK(make_descriptor() && libc_cpu() >= 0);
    WRITE(libc_area()->rseq_cs, (uint64_t)descriptor);
    CHECK(!take_area() && READ(libc_area()->rseq_cs) && is_registered_by_libc());
    WRITE(libc_area()->rseq_cs, 0);
    volatile uint64_t *marker = take_area();
    CHECK(marker && rseq_give_back(marker));
    return 0;
}

static void *notice_user(void *unused) {
    (void)unused;
    own_functions.cpuNanos();
    CHECK(!is_taken());
    return 0;
}

static void check_users(const char *library) {
    CHECK(!rseq_user());
    read_clock_until(1);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle || !printf("%s\n", dlerror()));
    int32_t changes = process.times_on;
    run(notice_user, 0);
    read_clock_until(0);
    check_given_back();
    CHECK(process.backend == BACKEND_SYSCALL && process.times_on == changes + 1);
    CHECK(rseq_user() && strstr(rseq_user(), "user"));
    CHECK(own_functions.selectBackend(BACKEND_RSEQ_TAKE) == PROBE_RSEQ_USED);
    CHECK(dlclose(handle) == 0);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    clock_init();
    if (!strcmp(arguments[1], "child")) {
        libc_length = length_of_libc_area();
        CHECK(libc_length && libc_cpu() >= 0 && is_registered_by_libc());
        return 0;
    }
    int32_t result = own_functions.selectBackend(BACKEND_RSEQ_TAKE);
    if (result) {
        printf("check-take: NOT RUN because %s\n", probe_failure_text(result));
        return 0;
    }
    CHECK(is_registered_by_libc() && libc_length >= sizeof(struct area));
    take();
    run(keep_used_area, 0);
    check_threads();
    check_signals();
    check_children("/proc/self/exe");
    own_functions.selectBackend(BACKEND_OFF);
    read_clock_until(0);
    check_given_back();
    own_functions.selectBackend(BACKEND_ON);
    take();
    read_clock_until(1);
    check_users(arguments[1]);
    printf("check-take: passed\n");
    return 0;
}
