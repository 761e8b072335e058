// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Usage: check-counter rseq|rseq-own|rseq-take
//
// Checks counter faults that markers do not reveal: the counter keeps running while the thread does not, changes its
// rate, stops, or jumps. A simulated counter replaces the real one.

#include "taskclock.h"

#include <stdlib.h>

static uint64_t simulated_counter(void);

#define counter simulated_counter
#include "kernel.c"
#include "backends.h"
#undef counter

// How far a reading may be behind, in ns. It may be ahead by the time that the host steals during the life of a base.
static const int64_t TOLERANCE = 1000000;
enum { MAX_ATTEMPTS = 20000 };

// ---- the counter

static uint64_t real_start, simulated_start;  // real and simulated counter when the speed last changed
static uint64_t speed = 1ull << 32;           // in units of 2^-32

static int is_intercepted;

static uint64_t simulated_counter(void) {
    if (is_intercepted)
        for (int i = 0; i < 3; i++) reference_cpu_nanos();
    return simulated_start + (uint64_t)(((unsigned __int128)(counter() - real_start) * speed) >> 32);
}

static void change_counter(uint64_t new_speed, uint64_t jump) {
    simulated_start = simulated_counter() + jump;
    real_start = counter();
    speed = new_speed;
}

// ---- readings

static int64_t last_cpu_read;

// Reads cpu, checks that it does not decrease, and returns its error.
static int64_t read_error(void) {
    int64_t before = reference_cpu_nanos(), cpu = own_functions.cpuNanos(), after = reference_cpu_nanos();
    CHECK(cpu >= last_cpu_read);
    last_cpu_read = cpu;
    return cpu > after ? cpu - after : cpu < before ? cpu - before : 0;
}

static int is_close(int64_t error) { return error < (int64_t)LONGEST_LIFE + TOLERANCE && error > -TOLERANCE; }

static void spin(int64_t nanos) {
    int64_t end = reference_cpu_nanos() + nanos;
    while (reference_cpu_nanos() < end) {}
}

static struct clock_report read_report(void) {
    struct clock_report now;
    own_functions.report(&now);
    return now;
}

// Reads until the rate is known again. All readings must be correct in the meantime.
static void recalibrate(void) {
    for (int i = 0; i < MAX_ATTEMPTS && !process.nanos_per_count; i++) {
        CHECK(is_close(read_error()));
        spin(100000);
    }
    CHECK(process.nanos_per_count);
}

// ---- the checks

// Steals 5 % of the time: more than the shortest life allows. The share varies, because a constant one would mean a
// wrong rate.
static void steal_too_much_time(void) {
    for (int i = 0; i < 100000; i++) record_residual(1000000, i % 2 ? 100000 : 0);
}

static void check_base_lifetime(void) {
    accuracy_init();
    set_accuracy(100);
    uint64_t first = life_nanos;
    CHECK(first >= 1000000 && first <= LONGEST_LIFE);
    // If 0.1 % of the time is stolen, a life of 200 us gives a mean error of 100 ns.
    for (int i = 0; i < 100000; i++) record_residual(1000000, 1000);
    CHECK(life_nanos > 150000 && life_nanos < 250000);
    set_accuracy(1000);
    CHECK(life_nanos > 1500000 && life_nanos < 2500000);
    set_accuracy(100);
    steal_too_much_time();
    CHECK(life_nanos == 0 && process.life == 0);
    for (int i = 0; i < 200000; i++) record_residual(1000000, i % 2 ? 300 : -300);
    CHECK(life_nanos > 5000000 && life_nanos <= LONGEST_LIFE);
    // A single bad base is enough to shorten the life.
    accuracy_init();
    record_residual(1000000, 50000);
    CHECK(life_nanos < first / 2);
    accuracy_init();
}

// If the life would be too short, each reading asks the kernel, but bases are still compared.
static void check_kernel_only(void) {
    accuracy_init();
    steal_too_much_time();
    CHECK(process.life == 0);
    uint64_t seen = observed;
    for (int i = 0; i < 10000; i++) CHECK(is_close(read_error()));
    CHECK(observed > seen);
    accuracy_init();
}

// The host takes the processor away for a while without reporting it.
static void check_stolen_time(void) {
    uint64_t stolen = 150000;
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        accuracy_init();
        accuracy_rate_changed();
        int64_t life = (int64_t)life_nanos, error = 0;
        uint64_t seen = observed;
        read_error();
        change_counter(speed, (stolen << 32) / process.nanos_per_count);
        // Readings are ahead by the stolen time until the base expires.
        for (int64_t end = reference_cpu_nanos() + 2 * life; reference_cpu_nanos() < end;) {
            error = read_error();
            CHECK(error <= (int64_t)stolen + 100000);
        }
        spin(1000000);
        if (observed == seen || life_nanos >= (uint64_t)life) continue;  // the thread was switched out: try again
        CHECK(error < (int64_t)stolen / 2 && life_nanos < (uint64_t)life / 2);
        return;
    }
    CHECK(!"the stolen time was never detected");
}

// After a rate change, readings are wrong for at most the life of two bases.
static void check_rate_change(uint64_t new_speed) {
    recalibrate();  // a reset may have left no rate that could be found to be wrong
    int64_t resets = read_report().calibration_resets;
    double expected = (double)read_report().counter_hertz * (double)new_speed / (double)speed;
    change_counter(new_speed, 0);
    // On a busy machine, few bases live long enough to be compared.
    int64_t deadline = raw_clock_nanos() + 30 * NANOS_PER_SECOND;
    while (read_report().calibration_resets == resets) {
        CHECK(read_error() < (int64_t)LONGEST_LIFE);
        CHECK(raw_clock_nanos() < deadline);
    }
    CHECK(process.nanos_per_count == 0);
    spin(2 * LONGEST_LIFE);  // until the kernel's clock catches up with the last base
    recalibrate();
    double hertz = (double)read_report().counter_hertz;
    CHECK(hertz > 0.99 * expected && hertz < 1.01 * expected);
    for (int i = 0; i < 1000; i++) CHECK(is_close(read_error()));
}

// The counter stops for a while and then continues.
static void check_stopped_counter(void) {
    int64_t resets = read_report().calibration_resets;
    uint64_t before = speed;
    change_counter(0, 0);
    for (int i = 0; i < MAX_ATTEMPTS && process.nanos_per_count; i++) read_error();
    CHECK(!process.nanos_per_count && read_report().calibration_resets > resets);
    for (int i = 0; i < 100; i++) {
        spin(200000);
        CHECK(is_close(read_error()) && !process.nanos_per_count);
    }
    change_counter(before, 0);
    recalibrate();
    for (int i = 0; i < 1000; i++) CHECK(is_close(read_error()));
}

// The counter jumps, as after the machine was suspended.
static void check_jump(uint64_t by) {
    read_error();
    int64_t resets = read_report().calibration_resets;
    change_counter(speed, by);
    for (int i = 0; i < 1000; i++) CHECK(is_close(read_error()));
    for (int i = 0; i < MAX_ATTEMPTS && read_report().calibration_resets == resets; i++) {
        spin(100000);
        CHECK(is_close(read_error()));
    }
    CHECK(read_report().calibration_resets > resets);
    recalibrate();
}

// A rate that was measured while the counter changed its speed is rejected.
static void check_first_rate(void) {
    double expected = (double)read_report().counter_hertz;
    uint64_t before = speed;
    for (int i = 0; i < 10; i++) {
        change_counter(before * 3 / 2, 0);
        calibration_reset();
        while (!first_rate) calibrate();
        change_counter(before, 0);
        recalibrate();
        double hertz = (double)read_report().counter_hertz;
        CHECK(hertz > 0.99 * expected && hertz < 1.01 * expected);
    }
}

// A backend may be selected long after the library was loaded. The first interval must not be as long as that.
static void check_late_rate(void) {
    enum { SECONDS = 20 };
    uint64_t counts = (uint64_t)read_report().counter_hertz * SECONDS;
    calibration_reset();
    origin = (struct moment){simulated_counter() - counts, raw_clock_nanos() - SECONDS * NANOS_PER_SECOND};
    CHECK(await_rate());
}

// Reads until the rate was measured over the longest interval that many times.
static void await_measurements(int count) {
    int64_t deadline = raw_clock_nanos() + 60 * NANOS_PER_SECOND;
    while (count) {
        int64_t last = origin.raw;
        self.kernel_reads = 0;  // the next one takes a base, but is not one that calibrates because of its number
        CHECK(is_close(read_error()));
        CHECK(raw_clock_nanos() < deadline);
        count -= origin.raw != last;
    }
}

// The rate is measured again in each second of use, even if the kernel is rarely asked. So even a change that is too
// small to be detected at once is corrected.
static void check_drift(void) {
    set_accuracy(1000000);
    // The rates of the first, short intervals may be wrong by more than the change, if the host steals time.
    await_measurements(2);
    int64_t resets = read_report().calibration_resets, before = read_report().counter_hertz;
    change_counter(speed + speed / 4000, 0);
    // The first measurement mixes the old rate and the new one.
    await_measurements(2);
    int64_t after = read_report().counter_hertz;
    CHECK(read_report().calibration_resets == resets);
    CHECK(after > before + before / 5000 && after < before + before / 3000);
    set_accuracy(100);
}

// A step of the counter takes 40 ns, as on many aarch64 processors.
static void check_coarse_counter(void) {
    enum { HERTZ = 25000000, STEP = NANOS_PER_SECOND / HERTZ, READINGS = 20000 };
    uint64_t before = speed;
    check_rate_change((uint64_t)((double)speed * HERTZ / (double)read_report().counter_hertz));
    int ahead = 0;
    for (int i = 0; i < READINGS; i++) ahead += read_error() > 2 * STEP;
    // The host may steal time.
    CHECK(ahead < READINGS / 20);
    // Half a step takes 20 of 100 ns of the budget, and all of 15 ns. The life is 0 if the host steals much.
    int64_t life = (int64_t)life_nanos * 80 / 100;
    CHECK(llabs(read_report().life_nanos - life) <= life / 50);
    sampled_ahead = 0;
    set_accuracy(100);
    CHECK(life_nanos == LONGEST_LIFE && process.life > 0);
    set_accuracy(15);
    CHECK(life_nanos == LONGEST_LIFE && process.life == 0 && read_report().life_nanos == 0);
    set_accuracy(100);
    CHECK(process.life > 0);
    check_rate_change(before);
}

static void check_intercepted_counter(int backend) {
    is_intercepted = 1;
    uint64_t marker;
    CHECK(rseq_prepare(backend, &marker) == PROBE_COUNTER_SLOW);
    is_intercepted = 0;
    CHECK(rseq_prepare(backend, &marker) == PROBE_USABLE);
}

int main(int count, char **arguments) {
    int tested_backend = parse_backend(count, arguments);
    real_start = counter();
    simulated_start = 1ull << 40;
    clock_init();
    int32_t probe_result = own_functions.selectBackend(tested_backend);
    if (probe_result) {
        printf("check-counter %s: NOT RUN because %s\n", arguments[1], probe_failure_text(probe_result));
        return 0;
    }
    CHECK(read_report().counter_hertz > 0 && read_report().budget_nanos == 100);
    check_base_lifetime();
    check_kernel_only();
    check_stolen_time();
    check_rate_change(speed * 3 / 2);
    check_rate_change(speed * 2 / 3);
    check_stopped_counter();
    check_jump((uint64_t)-(1ll << 39));
    check_jump(1ull << 43);
    check_first_rate();
    check_late_rate();
    check_drift();
    check_coarse_counter();
    check_intercepted_counter(tested_backend);
    printf("check-counter %s: passed\n", arguments[1]);
    return 0;
}
