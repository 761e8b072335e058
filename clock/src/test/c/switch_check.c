// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Usage: check-switches rseq|rseq-own|rseq-take
//
// Causes a context switch, or a signal whose handler reads the clock, at each step of a reading. To do this, it
// intercepts the counter, system calls, and accesses to shared state, so even windows of a nanosecond are always hit.
// The packaged library contains none of this.

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "taskclock.h"

static uint64_t intercepted_counter(void);
static void step_reached(void);
static long intercepted_call(long number, long a, long b, long c, long d, long e, long f);

#define counter intercepted_counter
#define system_call intercepted_call
#define AT_ACCESS step_reached
#include "kernel.c"
#include "backends.h"
#undef counter
#undef system_call

// Until the next base, readings may be ahead by time that the host steals. A sleep is longer than that, so a clock that
// counts it fails.
static const int64_t TOLERANCE = 6000000;  // ns
static const struct __kernel_timespec SLEEP = {0, 8000000};
static const uint64_t LONG_LIFE = NANOS_PER_SECOND;  // much longer than a sleep, so that the base does not expire
enum { NEVER = 1 << 30, MAX_ATTEMPTS = 1000 };

// ---- interception

static int step, first_action = NEVER, last_action, action_count, kernel_calls, kernel_denies;
static void (*step_action)(void);

// The timer may expire before the thread is switched out.
static void sleep_until_switched(void) {
    int64_t switches = switches_of_thread();
    while (switches_of_thread() == switches) system_call(__NR_nanosleep, (long)&SLEEP, 0, 0, 0, 0, 0);
}

static void step_reached(void) {
    if (++step < first_action || step > last_action) return;
    action_count++;
    step_action();
}

static uint64_t intercepted_counter(void) {
    step_reached();
    uint64_t counts = counter();
    step_reached();
    return counts;
}

static int64_t clock_offset;  // subtracted from the thread's clock, to simulate a restore

static long intercepted_call(long number, long a, long b, long c, long d, long e, long f) {
    if (number != __NR_clock_gettime) return system_call(number, a, b, c, d, e, f);
    kernel_calls++;
    if (kernel_denies) return -EPERM;
    step_reached();
    long result = system_call(number, a, b, c, d, e, f);
    struct __kernel_timespec *t = (struct __kernel_timespec *)b;
    int64_t nanos = t->tv_sec * NANOS_PER_SECOND + t->tv_nsec - clock_offset;
    *t = (struct __kernel_timespec){nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND};
    step_reached();
    return result;
}

// ---- readings

static int64_t last_cpu_read;

static int64_t kernel_cpu_nanos(void) { return reference_cpu_nanos() - clock_offset; }

static void read_and_compare(void) {
    step = action_count = kernel_calls = 0;
    int64_t before = kernel_cpu_nanos(), cpu = own_functions.cpuNanos(), after = kernel_cpu_nanos();
    CHECK(cpu >= last_cpu_read);
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    last_cpu_read = cpu;
}

static int handler_calls;

// A handler that reads the clock between the two calls makes the second one return the user time of its own, later
// reading. TaskClock.now() limits it to the CPU time.
static void read_parts_and_compare(void) {
    int handlers = handler_calls;
    int64_t before = kernel_cpu_nanos(), cpu = own_functions.nowCpuNanos();
    int64_t user = own_functions.nowUserNanos(), after = kernel_cpu_nanos();
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    CHECK(user >= 0 && user <= (handler_calls == handlers ? cpu : own_functions.nowCpuNanos()));
}

static uint64_t nanos_to_counts(uint64_t nanos) { return (nanos << 32) / process.nanos_per_count; }

// Reads until a reading uses a base instead of a system call.
static void use_base(uint64_t life) {
    calibration_lock = accuracy_lock = 1;  // holds both locks, so that the rate and the life do not change
    process.life = nanos_to_counts(life);
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        self.unused_bases = 0;
        read_and_compare();
        if (!kernel_calls) return;
    }
    CHECK(!"every reading makes a system call");
}

static void resume_calibration(void) { calibration_lock = accuracy_lock = 0; }

enum base { GOOD, EXPIRED, SWITCHED_OUT };

static void prepare(enum base base) {
    use_base(LONG_LIFE);
    self.unused_bases = 0;
    if (base == EXPIRED) self.base_counter = 0;
    if (base == SWITCHED_OUT) sleep_until_switched();
}

// Sleeps at steps `from` to `to` of a reading. Returns whether the reading had such a step.
static int sleep_within_reading(enum base base, int from, int to) {
    prepare(base);
    step_action = sleep_until_switched;
    first_action = from, last_action = to;
    read_and_compare();
    first_action = NEVER;
    int slept = action_count > 0;
    if (slept || base != GOOD) CHECK(kernel_calls);  // even if the last step slept
    read_and_compare();
    return slept;
}

// There is one step before and one after each counter read and clock_gettime. A reading with a good base reads the
// counter once.
static int min_steps(enum base base) { return base == GOOD ? 2 : base == EXPIRED ? 8 : 6; }

static void check_switches(void) {
    for (enum base base = GOOD; base <= SWITCHED_OUT; base++) {
        int single = 1, first = 1;
        while (sleep_within_reading(base, single, single)) single++;
        while (sleep_within_reading(base, first, NEVER)) first++;
        CHECK(single > min_steps(base) && first > min_steps(base));
    }
    resume_calibration();
}

// ---- signals

static int sleeps_in_handler = 1;

static void spin(int64_t nanos) {
    int64_t end = reference_cpu_nanos() + nanos;
    while (reference_cpu_nanos() < end) {}
}

// Reads the clock in the handler. The handler may also be switched out.
static void handle(int signal) {
    (void)signal;
    int saved_step = step, saved_first_action = first_action;
    first_action = NEVER;
    int64_t before = kernel_cpu_nanos(), cpu = own_functions.cpuNanos(), after = kernel_cpu_nanos();
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    read_parts_and_compare();
    if (!sleeps_in_handler) spin(30000);
    else if (handler_calls % 2) sleep_until_switched();
    handler_calls++;
    read_parts_and_compare();
    step = saved_step, first_action = saved_first_action;
}

static void send_signal(void) { raise(SIGUSR1); }

static int signal_within_reading(enum base base, int from, int parts) {
    prepare(base);
    step_action = send_signal;
    first_action = last_action = from;
    step = action_count = 0;
    int64_t before = kernel_cpu_nanos();
    int64_t cpu = parts ? own_functions.nowCpuNanos() : own_functions.cpuNanos();
    first_action = NEVER;
    int64_t after = kernel_cpu_nanos();
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    int was_sent = action_count > 0;
    last_cpu_read = cpu;
    for (int i = 0; i < 3; i++) {
        read_and_compare();
        read_parts_and_compare();
    }
    return was_sent;
}

static void assume_no_system_time(void) {
    own_functions.nowCpuNanos();
    self.times.user = self.measured_user = self.measured_cpu = self.times.cpu;
    self.user_share = 1ull << 32;
}

// The thread has no system time, so the handler's user time exceeds what the interrupted reading has read.
static int signal_within_split(int from) {
    prepare(GOOD);
    assume_no_system_time();
    step_action = send_signal;
    first_action = last_action = from;
    step = action_count = 0;
    int64_t system = own_functions.systemNanos();
    first_action = NEVER;
    CHECK(system >= 0 && system <= kernel_cpu_nanos() + TOLERANCE);
    read_parts_and_compare();
    return action_count > 0;
}

static void check_signals_in_splits(void) {
    sleeps_in_handler = 0;
    int from = 1, steps = 0;
    // Some readings have more steps because of a tick.
    for (int i = 0; i < 300; i++, from = from % 12 + 1) steps += signal_within_split(from);
    CHECK(steps > 100);
    // Between the two calls of one reading, see read_parts_and_compare.
    int later = 0;
    for (int i = 0; i < 100; i++) {
        assume_no_system_time();
        int64_t cpu = own_functions.nowCpuNanos();
        raise(SIGUSR1);
        int64_t user = own_functions.nowUserNanos();
        CHECK(user <= own_functions.nowCpuNanos());
        later += user > cpu;
    }
    // In some attempts, a tick tells of system time; if it is measured, all readings do.
    CHECK(later > 50 || user_time_is_precise());
    sleeps_in_handler = 1;
    resume_calibration();
}

static void check_signals(void) {
    struct sigaction action = {.sa_handler = handle};
    CHECK(sigaction(SIGUSR1, &action, 0) == 0);
    for (enum base base = GOOD; base <= SWITCHED_OUT; base++) {
        for (int parts = 0; parts <= 1; parts++) {
            int from = 1;
            // Each step is tested twice, because every second handler sleeps.
            while (signal_within_reading(base, from, parts) & signal_within_reading(base, from, parts)) from++;
            CHECK(from > min_steps(base));
        }
    }
    resume_calibration();
}

// Interrupts readings at any instruction, not only at the intercepted steps.
static void check_signal_storm(void) {
    struct sigaction action = {.sa_handler = handle};
    CHECK(sigaction(SIGALRM, &action, 0) == 0);
    struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
    process.life = nanos_to_counts(300000);
    int before = handler_calls;
    CHECK(setitimer(ITIMER_REAL, &often, 0) == 0);
    // Under emulation, signals are rare.
    int64_t end = reference_cpu_nanos() + 300000000, latest = end + 20 * NANOS_PER_SECOND;
    while (reference_cpu_nanos() < end || handler_calls <= before + 50) {
        CHECK(reference_cpu_nanos() < latest);
        last_cpu_read = 0;
        read_and_compare();
        read_parts_and_compare();
    }
    CHECK(setitimer(ITIMER_REAL, &never, 0) == 0);
}

// ---- shared state, unused bases, denied system calls

// Readings that use a base write no shared state: every reading loads it.
static void check_no_shared_writes(void) {
    // On larger pages, other variables share a page with the state, so only changed values are found.
    int is_protected = getpagesize() <= PAGE;
    static char before[sizeof process];
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        use_base(LONG_LIFE);
        uint64_t saved_min_counts = min_read_counts, seen = observed;
        int total_kernel_calls = 0;
        memcpy(before, &process, sizeof process);
        if (is_protected) CHECK(mprotect(&process, sizeof process, PROT_READ) == 0);
        for (int k = 0; k < 100; k++) read_and_compare(), total_kernel_calls += kernel_calls;
        if (is_protected) CHECK(mprotect(&process, sizeof process, PROT_READ | PROT_WRITE) == 0);
        if (total_kernel_calls) continue;  // the thread was switched out: try again
        CHECK(memcmp(before, &process, sizeof process) == 0);
        CHECK(min_read_counts == saved_min_counts && observed == seen);
        return resume_calibration();
    }
    CHECK(!"the thread was switched out in every attempt");
}

// A thread that never gets to use a base takes few of them. Returns how many readings follow until it uses one.
static int count_readings_until_used(void) {
    enum { READINGS = 6 * READS_PER_BASE };
    use_base(LONG_LIFE);
    int bases = 0;
    for (int i = 0; i < READINGS; i++) {
        sleep_until_switched();
        read_and_compare();
        bases += self.life != 0;
    }
    CHECK(bases >= READINGS / READS_PER_BASE && bases < READINGS / READS_PER_BASE * 3 + MAX_UNUSED_BASES);
    int readings = 0;
    do read_and_compare();
    while (kernel_calls && ++readings < MAX_ATTEMPTS);
    resume_calibration();
    return readings;
}

// Such a thread takes bases again as soon as it can use them.
static void check_unused_bases(void) {
    // More readings are needed if the thread is switched out meanwhile.
    for (int i = 0; i < 20; i++)
        if (count_readings_until_used() <= READS_PER_BASE + 1) return;
    CHECK(!"a thread that could use a base takes none");
}

static void check_denied_calls(void) {
    for (int valid = 0; valid <= 1; valid++) {
        use_base(LONG_LIFE);
        if (!valid) self.base_counter = 0;
        kernel_denies = 1;
        if (!valid) CHECK(own_functions.cpuNanos() == -1 && own_functions.nowCpuNanos() == -1);
        self.base_counter = 0;
        CHECK(own_functions.userNanos() == -1 && own_functions.systemNanos() == -1 && own_functions.cpuNanos() == -1);
        kernel_denies = 0;
        read_and_compare();
    }
    WRITE(process.backend, BACKEND_SYSCALL);
    kernel_denies = 1;
    self.life = 0;
    CHECK(own_functions.cpuNanos() == -1 && own_functions.userNanos() == -1 && own_functions.nowCpuNanos() == -1);
    kernel_denies = 0;
    read_and_compare();
    resume_calibration();
}

// ---- other processes

static void compare_in_child(int tested_backend) {
    CHECK(process.backend == BACKEND_SYSCALL && process.inverted_marker == 0);
    volatile uint64_t *inherited = self.marker;
    for (int i = 0; i < 100; i++) read_and_compare();
    CHECK(own_functions.selectBackend(tested_backend) == PROBE_USABLE);
    for (int i = 0; i < 100; i++) read_and_compare();
    // The child has given the inherited area back, and then taken its own.
    CHECK((self.marker == inherited) == (tested_backend != BACKEND_RSEQ_TAKE));
    if (tested_backend != BACKEND_RSEQ) {
        // The inherited area is in a page of the parent. The child's next thread must not get a slot from that page.
        char *slot = claim_slot(&process.areas, sizeof(struct area_slot), own_tid());
        CHECK(slot && ((uintptr_t)slot ^ (uintptr_t)inherited) >= PAGE);
    }
    _exit(0);
}

static void check_fork(int tested_backend) {
    CHECK(own_functions.selectBackend(tested_backend) == PROBE_USABLE);
    use_base(LONG_LIFE);
    resume_calibration();
    last_cpu_read = 0;  // the child's clock starts at 0
    int64_t used = reference_cpu_nanos();
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(own_functions.cpuNanos() < used);
        compare_in_child(tested_backend);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    use_base(LONG_LIFE);
    resume_calibration();
}

// If reading the counter raises SIGSEGV, the library never reads it.
static void check_forbidden_counter(int tested_backend) {
    enum { GET_TSC = 25, SET_TSC = 26, TSC_SIGSEGV = 2 };
    int32_t mode;
    if (system_call(__NR_prctl, GET_TSC, (long)&mode, 0, 0, 0, 0) != 0) {
        printf("check-switches: a forbidden counter: NOT RUN because this kernel cannot forbid it\n");
        return;
    }
    last_cpu_read = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(system_call(__NR_prctl, SET_TSC, TSC_SIGSEGV, 0, 0, 0, 0) == 0);
        calibration_init();
        CHECK(own_functions.selectBackend(tested_backend) == PROBE_COUNTER_FORBIDDEN);
        own_functions.machineChanged();
        for (int i = 0; i < 100; i++) read_and_compare();
        read_parts_and_compare();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

// After a restore from a checkpoint, the thread's clock starts again. The library uses system calls until a backend is
// selected.
static void check_restore(int tested_backend) {
    use_base(LONG_LIFE);
    resume_calibration();
    int restores = process.restores;
    own_functions.userNanos();
    clock_offset = reference_cpu_nanos() - 1000000;
    self.base_counter = 0;
    last_cpu_read = 0;
    read_and_compare();
    read_parts_and_compare();
    CHECK(process.restores == restores + 1 && process.backend == BACKEND_SYSCALL && process.nanos_per_count == 0);
    for (int i = 0; i < 100; i++) {
        read_and_compare();
        CHECK(kernel_calls);
    }
    CHECK(own_functions.selectBackend(tested_backend) == PROBE_USABLE && process.nanos_per_count);
    use_base(LONG_LIFE);
    resume_calibration();
}

int main(int count, char **arguments) {
    int tested_backend = parse_backend(count, arguments);
    clock_init();
    int32_t probe_result = own_functions.selectBackend(tested_backend);
    if (probe_result) {
        printf("check-switches %s: NOT RUN because %s\n", arguments[1], probe_failure_text(probe_result));
        return 0;
    }
    // Otherwise the first base would be accepted no matter how long it took.
    CHECK(min_read_counts != UINT64_MAX);
    check_switches();
    check_signals();
    check_signals_in_splits();
    check_signal_storm();
    check_no_shared_writes();
    check_unused_bases();
    check_denied_calls();
    check_fork(tested_backend);
    check_forbidden_counter(tested_backend);
    check_restore(tested_backend);
    printf("check-switches %s: passed\n", arguments[1]);
    return 0;
}
