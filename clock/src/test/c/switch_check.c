// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// A switch at every moment of a reading. The counter and the system calls are replaced by ones that can put the thread to
// sleep before or after, so windows of a nanosecond are hit each time; the packaged library knows nothing of it. And what
// no marker tells: a counter that runs on while the thread does not, or starts anew. check-switches rseq|rseq-own

#include "taskclock.h"

static uint64_t watched_counter(void);
static long watched_call(long number, long a, long b, long c, long d, long e, long f);

#define counter watched_counter
#define system_call watched_call
#include "rungs.h"
#undef counter
#undef system_call

static const int64_t TOLERANCE = 1000000;  // ns
static const struct __kernel_timespec SLEEP = {0, 4000000};
static const uint64_t LONG_LIFE = NANOS_PER_SECOND;  // of a base: much longer than a sleep, or its age would tell
enum { NEVER = 1 << 30, PATIENCE = 1000 };

// ---- what is watched

static int step, first_sleep = NEVER, last_sleep, sleeps, asked;
static uint64_t skew, skew_of_call;  // counts

// Time may be over before the thread has given way.
static void fall_asleep(void) {
    int64_t switches = switches_of_thread();
    while (switches_of_thread() == switches) system_call(__NR_nanosleep, (long)&SLEEP, 0, 0, 0, 0, 0);
}

static void maybe_sleep(void) {
    if (++step < first_sleep || step > last_sleep) return;
    fall_asleep();
    sleeps++;
}

static uint64_t watched_counter(void) {
    maybe_sleep();
    uint64_t counts = counter() + skew;
    maybe_sleep();
    return counts;
}

static long watched_call(long number, long a, long b, long c, long d, long e, long f) {
    if (number != __NR_clock_gettime) return system_call(number, a, b, c, d, e, f);
    asked++;
    skew += skew_of_call;
    maybe_sleep();
    long result = system_call(number, a, b, c, d, e, f);
    maybe_sleep();
    return result;
}

// ---- readings

static int64_t last_cpu_read;

static void read_and_compare(void) {
    step = sleeps = asked = 0;
    int64_t before = reference(), cpu = own_functions.cpuNanos(), after = reference();
    CHECK(cpu >= last_cpu_read);
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    last_cpu_read = cpu;
}

static uint64_t counts_of(uint64_t nanos) { return (nanos << 32) / nanos_per_count; }

// Until a reading does without the kernel.
static void settle(uint64_t lifetime) {
    next_calibration = INT64_MAX;
    base_counts = counts_of(lifetime);
    for (int i = 0; i < PATIENCE; i++) {
        read_and_compare();
        if (!asked) return;
    }
    CHECK(!"the kernel is asked each time");
}

enum base { GOOD, EXPIRED, SWITCHED_OUT };

// Sleeps at step `from` of a reading, or at all from there; returns whether there was such a step.
static int sleep_within_reading(enum base base, int from, int to) {
    settle(LONG_LIFE);
    if (base == EXPIRED) self.base_counter = 0;
    if (base == SWITCHED_OUT) fall_asleep();
    first_sleep = from, last_sleep = to;
    read_and_compare();
    first_sleep = NEVER;
    int slept = sleeps > 0;
    if (slept || base != GOOD) CHECK(asked);  // however late in the reading it was
    read_and_compare();
    return slept;
}

static void check_switches(void) {
    for (enum base base = GOOD; base <= SWITCHED_OUT; base++) {
        int once = 1, on = 1;
        while (sleep_within_reading(base, once, once)) once++;
        while (sleep_within_reading(base, on, NEVER)) on++;
        // Before and after one counter; where the kernel is asked, two more of them and the system call.
        int steps = base == GOOD ? 2 : 8;
        CHECK(once > steps && on > steps);
    }
}

// What took long for another reason than a switch makes no base either; what took but longer than usual makes one, which
// is not judged by.
static void check_disturbed(void) {
    settle(LONG_LIFE);
    self.base_counter = 0;
    skew_of_call = counts_of(MOST_APART);
    read_and_compare();
    CHECK(asked == BASE_TRIES && *self.marker == 0);
    skew_of_call = 0;
    for (int i = 0; i < PATIENCE; i++) {
        settle(LONG_LIFE);
        CHECK(!self.base_is_rough);
        uint64_t least = quickest;
        self.base_counter = 0;
        quickest = 0;
        read_and_compare();
        quickest = least;
        if (asked == 1 && *self.marker == rseq_marker && self.base_is_rough) return;  // else it was switched out just now
        self.base_counter = 0;
        read_and_compare();
    }
    CHECK(!"no base where all is slow");
}

// A host takes the processor away for a while and nobody says so: bases live half as long.
static void check_stolen_time(void) {
    static const uint64_t LIFE = 200000, STOLEN = 150000;  // of longer ones the base does not live to tell
    for (int i = 0; i < PATIENCE; i++) {
        settle(LIFE);
        uint64_t counts = base_counts;
        skew += counts_of(STOLEN);
        do read_and_compare();
        while (!asked);
        if (base_counts == counts / 2) return;  // else it was switched out just now
    }
    CHECK(!"never noticed");
}

static struct calibration calibration_now(void) {
    struct calibration now;
    next_calibration = 0;
    own_functions.calibration(&now);
    return now;
}

// The machine slept: the counter was set to zero, or it ran while the raw clock stood.
static void check_counter_was_set(uint64_t by) {
    settle(LONG_LIFE);
    struct calibration before = calibration_now(), now;
    CHECK(before.counter_hertz > 0 && before.over_nanos >= FIRST_CALIBRATION && before.base_nanos > 0);
    skew += by;
    now = calibration_now();
    CHECK(now.counter_hertz == -1 && now.over_nanos == -1 && now.base_nanos == -1);
    read_and_compare();
    for (int i = 0; i < 3; i++) fall_asleep();
    now = calibration_now();
    CHECK(now.over_nanos > 0 && now.base_nanos > 0 && now.base_nanos <= (int64_t)FIRST_LIFETIME);
    CHECK(now.counter_hertz > before.counter_hertz * 0.99 && now.counter_hertz < before.counter_hertz * 1.01);
    read_and_compare();
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
    while (!nanos_per_count) read_and_compare();
    check_switches();
    check_disturbed();
    check_stolen_time();
    check_counter_was_set(-counter());
    check_counter_was_set(counts_of(3600 * NANOS_PER_SECOND));
    printf("check-switches %s: passed\n", arguments[1]);
    return 0;
}
