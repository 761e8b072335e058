// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What no marker tells: a counter that runs on while the thread does not, changes its rate, stands still, or jumps. The
// counter is replaced by one that does so. check-counter rseq|rseq-own

#include "taskclock.h"

static uint64_t steered_counter(void);

#define counter steered_counter
#include "kernel.c"
#include "rungs.h"
#undef counter

static const int64_t TOLERANCE = 1000000;  // ns behind; ahead it may be by what the host takes away while a base lives
enum { PATIENT = 20000 };

// ---- the counter

static uint64_t then, so_far;         // so_far counts had been by then
static uint64_t speed = 1ull << 32;  // of 2^32

static uint64_t steered_counter(void) {
    return so_far + (uint64_t)(((unsigned __int128)(counter() - then) * speed) >> 32);
}

static void steer(uint64_t new_speed, uint64_t jump) {
    so_far = steered_counter() + jump;
    then = counter();
    speed = new_speed;
}

// ---- readings

static int64_t last_cpu_read;

// How far off; it never goes back.
static int64_t read_error(void) {
    int64_t before = reference(), cpu = own_functions.cpuNanos(), after = reference();
    CHECK(cpu >= last_cpu_read);
    last_cpu_read = cpu;
    return cpu > after ? cpu - after : cpu < before ? cpu - before : 0;
}

static int is_near(int64_t error) { return error < (int64_t)LONGEST_LIFE + TOLERANCE && error > -TOLERANCE; }

static void spin(int64_t nanos) {
    int64_t end = reference() + nanos;
    while (reference() < end) {}
}

static struct clock_report reported(void) {
    struct clock_report now;
    own_functions.report(&now);
    return now;
}

// Until the rate is known; all readings are right meanwhile.
static void calibrate_anew(void) {
    for (int i = 0; i < PATIENT && !process.nanos_per_count; i++) {
        CHECK(is_near(read_error()));
        spin(100000);
    }
    CHECK(process.nanos_per_count);
}

// ---- the checks

// 1 in 20: more than the shortest life allows for. Not the same each time, which would be a wrong rate.
static void take_too_much(void) {
    for (int i = 0; i < 100000; i++) judge_base(1000000, i % 2 ? 100000 : 0);
}

static void check_life(void) {
    accuracy_init();
    set_accuracy(100);
    uint64_t first = life_nanos;
    CHECK(first >= 1000000 && first <= LONGEST_LIFE);
    // 1 part in 1,000 is taken: a mean of 100 ns at half of 200 us.
    for (int i = 0; i < 100000; i++) judge_base(1000000, 1000);
    CHECK(life_nanos > 150000 && life_nanos < 250000);
    set_accuracy(1000);
    CHECK(life_nanos > 1500000 && life_nanos < 2500000);
    set_accuracy(100);
    take_too_much();
    CHECK(life_nanos == 0 && process.life == 0);
    for (int i = 0; i < 200000; i++) judge_base(1000000, i % 2 ? 300 : -300);
    CHECK(life_nanos > 5000000 && life_nanos <= LONGEST_LIFE);
    // Once is enough for a shorter life.
    accuracy_init();
    judge_base(1000000, 50000);
    CHECK(life_nanos < first / 2);
    accuracy_init();
}

// Where a life would be too short the kernel is asked each time, and bases are judged all the same.
static void check_asks_each_time(void) {
    accuracy_init();
    take_too_much();
    CHECK(process.life == 0);
    uint64_t seen = observed;
    for (int i = 0; i < 10000; i++) CHECK(is_near(read_error()));
    CHECK(observed > seen);
    accuracy_init();
}

// A host takes the processor away for a while and nobody says so.
static void check_stolen_time(void) {
    uint64_t stolen = 150000;
    for (int i = 0; i < PATIENT; i++) {
        accuracy_init();
        accuracy_rate_changed();
        int64_t life = (int64_t)life_nanos, error = 0;
        uint64_t seen = observed;
        read_error();
        steer(speed, (stolen << 32) / process.nanos_per_count);
        // Ahead by what was taken, until the base is no longer used.
        for (int64_t end = reference() + 2 * life; reference() < end;) {
            error = read_error();
            CHECK(error <= (int64_t)stolen + 100000);
        }
        spin(1000000);
        if (observed == seen || life_nanos >= (uint64_t)life) continue;  // it was switched out just now
        CHECK(error < (int64_t)stolen / 2 && life_nanos < (uint64_t)life / 2);
        return;
    }
    CHECK(!"never noticed");
}

// Wrong for as long as two bases live, at most, and then right.
static void check_rate_change(uint64_t new_speed) {
    int64_t resets = reported().calibration_resets;
    double expected = (double)reported().counter_hertz * (double)new_speed / (double)speed;
    steer(new_speed, 0);
    int readings = 0;
    while (reported().calibration_resets == resets) {
        CHECK(read_error() < (int64_t)LONGEST_LIFE);
        CHECK(++readings < PATIENT * 100);
    }
    CHECK(process.nanos_per_count == 0);
    spin(2 * LONGEST_LIFE);  // what a base was ahead by is caught up with
    calibrate_anew();
    double hertz = (double)reported().counter_hertz;
    CHECK(hertz > 0.99 * expected && hertz < 1.01 * expected);
    for (int i = 0; i < 1000; i++) CHECK(is_near(read_error()));
}

// It stands, for as long as it likes, and goes on.
static void check_stands_still(void) {
    int64_t resets = reported().calibration_resets;
    uint64_t before = speed;
    steer(0, 0);
    for (int i = 0; i < PATIENT && process.nanos_per_count; i++) read_error();
    CHECK(!process.nanos_per_count && reported().calibration_resets > resets);
    for (int i = 0; i < 100; i++) {
        spin(200000);
        CHECK(is_near(read_error()) && !process.nanos_per_count);
    }
    steer(before, 0);
    calibrate_anew();
    for (int i = 0; i < 1000; i++) CHECK(is_near(read_error()));
}

// The machine slept: the counter was set to another value.
static void check_jump(uint64_t by) {
    read_error();
    int64_t resets = reported().calibration_resets;
    steer(speed, by);
    for (int i = 0; i < 1000; i++) CHECK(is_near(read_error()));
    for (int i = 0; i < PATIENT && reported().calibration_resets == resets; i++) {
        spin(100000);
        CHECK(is_near(read_error()));
    }
    CHECK(reported().calibration_resets > resets);
    calibrate_anew();
}

// A rate that was measured while the counter changed it is not taken.
static void check_first_rate(void) {
    double expected = (double)reported().counter_hertz;
    uint64_t before = speed;
    for (int i = 0; i < 10; i++) {
        steer(before * 3 / 2, 0);
        calibration_reset();
        while (!first_rate) calibrate();
        steer(before, 0);
        calibrate_anew();
        double hertz = (double)reported().counter_hertz;
        CHECK(hertz > 0.99 * expected && hertz < 1.01 * expected);
    }
}

// Each second of use it is measured again, however seldom the kernel is asked: what is too little to be seen at once does
// not stay.
static void check_drift(void) {
    static const int64_t TWO_INTERVALS = 3 * NANOS_PER_SECOND;
    int64_t before = reported().counter_hertz;
    set_accuracy(1000000);
    steer(speed + speed / 4000, 0);
    int64_t start = raw_clock_nanos(), after = before;
    // For the first interval is the old rate's and the new one's.
    while (after < before + before / 5000) {
        self.asks = 1;  // long before the time at which it is measured for the number of asks
        CHECK(is_near(read_error()));
        CHECK(raw_clock_nanos() - start < 2 * TWO_INTERVALS);
        after = reported().counter_hertz;
    }
    CHECK(raw_clock_nanos() - start < TWO_INTERVALS);
    CHECK(after < before + before / 3000);
    set_accuracy(100);
}

int main(int count, char **arguments) {
    int rung_here = named_rung(count, arguments);
    then = counter();
    so_far = 1ull << 40;
    clock_init();
    int32_t refusal = own_functions.selectRung(rung_here);
    if (refusal) {
        printf("check-counter %s: NOT RUN, because %s\n", arguments[1], reason(refusal));
        return 0;
    }
    CHECK(reported().counter_hertz > 0 && reported().budget_nanos == 100);
    check_life();
    check_asks_each_time();
    check_stolen_time();
    check_rate_change(speed * 3 / 2);
    check_rate_change(speed * 2 / 3);
    check_stands_still();
    check_jump((uint64_t)-(1ll << 39));
    check_jump(1ull << 43);
    check_first_rate();
    check_drift();
    printf("check-counter %s: passed\n", arguments[1]);
    return 0;
}
