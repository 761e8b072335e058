// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// A switch, or a signal whose handler reads, at every moment of a reading. The counter and the system calls are replaced by
// ones at which that can happen, so windows of a nanosecond are hit each time; the packaged library knows nothing of it.
// check-switches rseq|rseq-own

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "taskclock.h"

static uint64_t watched_counter(void);
static void maybe(void);
static long watched_call(long number, long a, long b, long c, long d, long e, long f);

#define counter watched_counter
#define system_call watched_call
#define AT_ACCESS maybe
#include "kernel.c"
#include "rungs.h"
#undef counter
#undef system_call

// A host may take the processor away for a while, and readings are ahead by that until the next base; a sleep that is
// counted is longer.
static const int64_t TOLERANCE = 6000000;  // ns
static const struct __kernel_timespec SLEEP = {0, 8000000};
static const uint64_t LONG_LIFE = NANOS_PER_SECOND;  // of a base: much longer than a sleep, or its age would tell
enum { NEVER = 1 << 30, PATIENT = 1000 };

// ---- what is watched

static int step, first_event = NEVER, last_event, events, asked, refuses;
static void (*event)(void);

// Time may be over before the thread has given way.
static void fall_asleep(void) {
    int64_t switches = switches_of_thread();
    while (switches_of_thread() == switches) system_call(__NR_nanosleep, (long)&SLEEP, 0, 0, 0, 0, 0);
}

static void maybe(void) {
    if (++step < first_event || step > last_event) return;
    events++;
    event();
}

static uint64_t watched_counter(void) {
    maybe();
    uint64_t counts = counter();
    maybe();
    return counts;
}

static int64_t set_back;  // by so much the thread's clock begins anew

static long watched_call(long number, long a, long b, long c, long d, long e, long f) {
    if (number != __NR_clock_gettime) return system_call(number, a, b, c, d, e, f);
    asked++;
    if (refuses) return -EPERM;
    maybe();
    long result = system_call(number, a, b, c, d, e, f);
    struct __kernel_timespec *t = (struct __kernel_timespec *)b;
    int64_t nanos = t->tv_sec * NANOS_PER_SECOND + t->tv_nsec - set_back;
    *t = (struct __kernel_timespec){nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND};
    maybe();
    return result;
}

// ---- readings

static int64_t last_cpu_read;

static int64_t kernel_says(void) { return reference() - set_back; }

static void read_and_compare(void) {
    step = events = asked = 0;
    int64_t before = kernel_says(), cpu = own_functions.cpuNanos(), after = kernel_says();
    CHECK(cpu >= last_cpu_read);
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    last_cpu_read = cpu;
}

static void read_parts_and_compare(void) {
    int64_t before = kernel_says(), cpu = own_functions.nowCpuNanos();
    int64_t user = own_functions.nowUserNanos(), after = kernel_says();
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    CHECK(user >= 0 && user <= cpu);
}

static uint64_t counts_of(uint64_t nanos) { return (nanos << 32) / process.nanos_per_count; }

// Until a reading does without the kernel.
static void settle(uint64_t life) {
    calibrating = judging = 1;  // nothing else changes
    process.life = counts_of(life);
    for (int i = 0; i < PATIENT; i++) {
        self.unused_bases = 0;
        read_and_compare();
        if (!asked) return;
    }
    CHECK(!"the kernel is asked each time");
}

static void go_on(void) { calibrating = judging = 0; }

enum base { GOOD, EXPIRED, SWITCHED_OUT };

static void prepare(enum base base) {
    settle(LONG_LIFE);
    self.unused_bases = 0;
    if (base == EXPIRED) self.base_counter = 0;
    if (base == SWITCHED_OUT) fall_asleep();
}

// Sleeps at step `from` of a reading, or at all from there; returns whether there was such a step.
static int sleep_within_reading(enum base base, int from, int to) {
    prepare(base);
    event = fall_asleep;
    first_event = from, last_event = to;
    read_and_compare();
    first_event = NEVER;
    int slept = events > 0;
    if (slept || base != GOOD) CHECK(asked);  // however late in the reading it was
    read_and_compare();
    return slept;
}

// Before and after one counter; where the kernel is asked, two more of them and the system call.
static int steps_of(enum base base) { return base == GOOD ? 2 : base == EXPIRED ? 8 : 6; }

static void check_switches(void) {
    for (enum base base = GOOD; base <= SWITCHED_OUT; base++) {
        int once = 1, on = 1;
        while (sleep_within_reading(base, once, once)) once++;
        while (sleep_within_reading(base, on, NEVER)) on++;
        CHECK(once > steps_of(base) && on > steps_of(base));
    }
    go_on();
}

// ---- signals

static int handled, sleeps_in_handler = 1;

static void spin(int64_t nanos) {
    int64_t end = reference() + nanos;
    while (reference() < end) {}
}

// As a handler would: it may also be what is switched out.
static void handle(int signal) {
    (void)signal;
    int kept_step = step, kept_first = first_event;
    first_event = NEVER;
    int64_t before = kernel_says(), cpu = own_functions.cpuNanos(), after = kernel_says();
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    read_parts_and_compare();
    if (!sleeps_in_handler) spin(30000);
    else if (handled % 2) fall_asleep();
    handled++;
    read_parts_and_compare();
    step = kept_step, first_event = kept_first;
}

static void send_signal(void) { raise(SIGUSR1); }

static int signal_within_reading(enum base base, int from, int parts) {
    prepare(base);
    event = send_signal;
    first_event = last_event = from;
    step = events = 0;
    int64_t before = kernel_says();
    int64_t cpu = parts ? own_functions.nowCpuNanos() : own_functions.cpuNanos();
    first_event = NEVER;
    int64_t after = kernel_says();
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    int was_sent = events > 0;
    last_cpu_read = cpu;
    for (int i = 0; i < 3; i++) {
        read_and_compare();
        read_parts_and_compare();
    }
    return was_sent;
}

// Of a thread that is never in the kernel: the handler's user time is more than all that the interrupted reading knows of.
static int signal_within_split(int from) {
    prepare(GOOD);
    own_functions.nowCpuNanos();
    self.user = self.measured_user = self.measured_cpu = self.cpu;
    self.user_share = 1ull << 32;
    event = send_signal;
    first_event = last_event = from;
    step = events = 0;
    int64_t system = own_functions.systemNanos();
    first_event = NEVER;
    CHECK(system >= 0 && system <= kernel_says() + TOLERANCE);
    read_parts_and_compare();
    return events > 0;
}

static void check_signals_in_splits(void) {
    sleeps_in_handler = 0;
    int from = 1, steps = 0;
    // Some readings have more steps, as a tick came.
    for (int i = 0; i < 300; i++, from = from % 12 + 1) steps += signal_within_split(from);
    CHECK(steps > 100);
    sleeps_in_handler = 1;
    go_on();
}

static void check_signals(void) {
    struct sigaction action = {.sa_handler = handle};
    CHECK(sigaction(SIGUSR1, &action, 0) == 0);
    for (enum base base = GOOD; base <= SWITCHED_OUT; base++) {
        for (int parts = 0; parts <= 1; parts++) {
            int from = 1;
            // Twice each, as every second handler sleeps.
            while (signal_within_reading(base, from, parts) & signal_within_reading(base, from, parts)) from++;
            CHECK(from > steps_of(base));
        }
    }
    go_on();
}

// At any instruction, for what has no step.
static void check_signal_storm(void) {
    struct sigaction action = {.sa_handler = handle};
    CHECK(sigaction(SIGALRM, &action, 0) == 0);
    struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
    process.life = counts_of(300000);
    int before = handled;
    CHECK(setitimer(ITIMER_REAL, &often, 0) == 0);
    int64_t end = reference() + 300000000;
    while (reference() < end) {
        last_cpu_read = 0;
        read_and_compare();
        read_parts_and_compare();
    }
    CHECK(setitimer(ITIMER_REAL, &never, 0) == 0);
    CHECK(handled > before + 50);
}

// ---- what costs nothing, or answers nothing

// What every reading loads no reading writes that asks nobody.
static void check_writes(void) {
    for (int i = 0; i < PATIENT; i++) {
        settle(LONG_LIFE);
        uint64_t least = quickest, seen = observed;
        int all_asked = 0;
        CHECK(mprotect(&process, sizeof process, PROT_READ) == 0);
        for (int k = 0; k < 100; k++) read_and_compare(), all_asked += asked;
        CHECK(mprotect(&process, sizeof process, PROT_READ | PROT_WRITE) == 0);
        if (all_asked) continue;  // it was switched out just now
        CHECK(quickest == least && observed == seen);
        return go_on();
    }
    CHECK(!"always switched out");
}

// A thread that never uses a base takes hardly any, and takes them again once it can.
static void check_unused_bases(void) {
    settle(LONG_LIFE);
    enum { READINGS = 6 * ASKS_A_BASE };
    int bases = 0;
    for (int i = 0; i < READINGS; i++) {
        fall_asleep();
        read_and_compare();
        bases += self.life != 0;
    }
    CHECK(bases >= READINGS / ASKS_A_BASE && bases < READINGS / ASKS_A_BASE * 3 + UNUSED_BASES);
    int readings = 0;
    do read_and_compare();
    while (asked && ++readings < PATIENT);
    CHECK(readings <= ASKS_A_BASE + 1 || !"a thread that could use bases takes none");
    go_on();
}

static void check_refused(void) {
    for (int valid = 0; valid <= 1; valid++) {
        settle(LONG_LIFE);
        if (!valid) self.base_counter = 0;
        refuses = 1;
        if (!valid) CHECK(own_functions.cpuNanos() == -1 && own_functions.nowCpuNanos() == -1);
        self.base_counter = 0;
        CHECK(own_functions.userNanos() == -1 && own_functions.systemNanos() == -1 && own_functions.cpuNanos() == -1);
        refuses = 0;
        read_and_compare();
    }
    WRITE(process.rung, RUNG_SYSCALL);
    refuses = 1;
    self.life = 0;
    CHECK(own_functions.cpuNanos() == -1 && own_functions.userNanos() == -1 && own_functions.nowCpuNanos() == -1);
    refuses = 0;
    read_and_compare();
    go_on();
}

// ---- other processes

static void compare_in_child(int rung_here) {
    CHECK(process.rung == RUNG_SYSCALL && process.not_marker == 0);
    volatile uint64_t *inherited = self.marker;
    for (int i = 0; i < 100; i++) read_and_compare();
    CHECK(own_functions.selectRung(rung_here) == PROBE_USABLE);
    for (int i = 0; i < 100; i++) read_and_compare();
    CHECK(self.marker == inherited);
    if (rung_here == RUNG_RSEQ_OWN) {
        // The next thread of this process gets none of the pages in which the first one's area is.
        char *slot = claim_slot(&process.areas, sizeof(struct area_slot), own_tid());
        CHECK(slot && ((uintptr_t)slot ^ (uintptr_t)inherited) >= PAGE);
    }
    _exit(0);
}

static void check_fork(int rung_here) {
    CHECK(own_functions.selectRung(rung_here) == PROBE_USABLE);
    settle(LONG_LIFE);
    go_on();
    last_cpu_read = 0;  // the child begins anew
    int64_t used = reference();
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(own_functions.cpuNanos() < used);
        compare_in_child(rung_here);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    settle(LONG_LIFE);
    go_on();
}

// Where reading the counter is a SIGSEGV, nothing reads it.
static void check_forbidden_counter(int rung_here) {
    enum { SET_TSC = 26, TSC_SIGSEGV = 2 };
    last_cpu_read = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(system_call(__NR_prctl, SET_TSC, TSC_SIGSEGV, 0, 0, 0, 0) == 0);
        calibration_init();
        CHECK(own_functions.selectRung(rung_here) == PROBE_COUNTER_FORBIDDEN);
        own_functions.machineChanged();
        for (int i = 0; i < 100; i++) read_and_compare();
        read_parts_and_compare();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

// The thread's clock begins anew, as after a checkpoint: so do we, by system calls until a rung is selected again.
static void check_restored(int rung_here) {
    settle(LONG_LIFE);
    go_on();
    int restores = process.restores;
    own_functions.userNanos();
    set_back = reference() - 1000000;
    self.base_counter = 0;
    last_cpu_read = 0;
    read_and_compare();
    read_parts_and_compare();
    CHECK(process.restores == restores + 1 && process.rung == RUNG_SYSCALL && process.nanos_per_count == 0);
    for (int i = 0; i < 100; i++) {
        read_and_compare();
        CHECK(asked);
    }
    CHECK(own_functions.selectRung(rung_here) == PROBE_USABLE && process.nanos_per_count);
    settle(LONG_LIFE);
    go_on();
}

int main(int count, char **arguments) {
    int rung_here = named_rung(count, arguments);
    clock_init();
    int32_t refusal = own_functions.selectRung(rung_here);
    if (refusal) {
        printf("check-switches %s: NOT RUN, because %s\n", arguments[1], reason(refusal));
        return 0;
    }
    // Or the first base would be taken for good however long it took.
    CHECK(quickest != UINT64_MAX);
    check_switches();
    check_signals();
    check_signals_in_splits();
    check_signal_storm();
    check_writes();
    check_unused_bases();
    check_refused();
    check_fork(rung_here);
    check_forbidden_counter(rung_here);
    check_restored(rung_here);
    printf("check-switches %s: passed\n", arguments[1]);
    return 0;
}
