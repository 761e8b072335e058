// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The counter's rate, by CLOCK_MONOTONIC_RAW, which keeps step with the scheduler's clock. It is measured over some
// milliseconds twice, which must agree; then over ever longer times up to a second, and each second of use anew. So a
// counter that changes its rate, stands still or jumps is noticed: a machine that slept, was moved to another, or restored.

#include "taskclock.h"

enum { TRIES = 4 };
static const int64_t FIRST_INTERVAL = 4000000;              // ns: of 4 ms 50 ns of error are 125 ns in 10 ms
static const int64_t LONGEST_INTERVAL = NANOS_PER_SECOND;
enum { AGREEMENT = 2048 };  // first intervals differ by less than one part in so many
enum { RATE_GRAIN = 1024 };  // more than a known rate is ever off

// A moment in both times.
struct moment {
    uint64_t counter;
    int64_t raw;
};

static int calibrating;  // whoever has set it may use what follows
static struct moment origin, middle;
static uint64_t first_rate;  // from origin to middle; 0 until then
static int64_t interval;     // from origin to the next calibration, ns

static uint64_t calibrated_at;  // counter
static uint64_t due_counts;     // from then until the next one; 0 while no rate is known
static int64_t calibrated_over;  // ns
static int64_t resets;

// The quickest of some tries, as something may come between the reads.
static struct moment moment_now(void) {
    struct moment best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = counter();
        int64_t raw = raw_clock_nanos();
        uint64_t took = counter() - before;
        if (took < least) {
            least = took;
            best = (struct moment){before + took / 2, raw};
        }
    }
    return best;
}

static int differ(uint64_t a, uint64_t b, uint64_t grain) { return (a > b ? a - b : b - a) > b / grain; }

// Nanoseconds per count, of 2^32; 0 if that cannot be a rate.
static uint64_t rate_since(struct moment then, struct moment now) {
    if (now.counter <= then.counter || now.raw <= then.raw) return 0;
    uint64_t nanos = (uint64_t)(now.raw - then.raw), counts = now.counter - then.counter;
    while (nanos >> 31) nanos >>= 1, counts >>= 1;
    return counts ? (nanos << 32) / counts : 0;
}

static void begin_at(struct moment now) {
    origin = now;
    first_rate = 0;
    interval = FIRST_INTERVAL;
    WRITE(calibrated_over, 0);
    WRITE(due_counts, 0);
    __atomic_store_n(&process.nanos_per_count, 0, __ATOMIC_RELEASE);
}

static void know(uint64_t rate, struct moment now) {
    WRITE(calibrated_over, now.raw - origin.raw);
    interval = 2 * (now.raw - origin.raw);
    if (interval > LONGEST_INTERVAL) {
        interval = LONGEST_INTERVAL;
        origin = now;
    }
    WRITE(due_counts, ((uint64_t)interval << 32) / rate);
    if (rate == READ(process.nanos_per_count)) return;
    __atomic_store_n(&process.nanos_per_count, rate, __ATOMIC_RELEASE);
    accuracy_rate_changed();
}

static void reset_at(struct moment now) {
    WRITE(resets, resets + 1);
    begin_at(now);
}

static void measure_rate(struct moment now) {
    uint64_t rate = rate_since(origin, now), known = READ(process.nanos_per_count);
    if (known) {
        if (rate && !differ(rate, known, RATE_GRAIN)) return know(rate, now);
        reset_at(now);
    } else if (!rate) {
        begin_at(now);
    } else if (!first_rate) {
        first_rate = rate;
        middle = now;
        interval = 2 * (now.raw - origin.raw);
    } else if (differ(rate_since(middle, now), first_rate, AGREEMENT)) {
        begin_at(now);
    } else {
        know(rate, now);
    }
}

int calibration_is_due(uint64_t counts) {
    uint64_t due = READ(due_counts);
    // Unsigned: a counter that was set back is due as well.
    return !due || counts - READ(calibrated_at) >= due;
}

// Any thread may do this, and none waits for it.
void calibrate(void) {
    if (__atomic_exchange_n(&calibrating, 1, __ATOMIC_ACQUIRE)) return;
    uint64_t counts = counter();
    WRITE(calibrated_at, counts);
    // Where the counter was set back, or stands, there is nothing to wait for.
    if (raw_clock_nanos() - origin.raw >= interval || counts <= origin.counter) measure_rate(moment_now());
    __atomic_store_n(&calibrating, 0, __ATOMIC_RELEASE);
}

void calibration_reset(void) {
    if (counter_is_forbidden()) return;
    if (__atomic_exchange_n(&calibrating, 1, __ATOMIC_ACQUIRE)) return;
    reset_at(moment_now());
    __atomic_store_n(&calibrating, 0, __ATOMIC_RELEASE);
}

// What the kernel says contradicts the rate, or time was taken away: what the raw clock says since the origin decides, if that
// is long enough ago.
void calibration_doubt(void) {
    if (__atomic_exchange_n(&calibrating, 1, __ATOMIC_ACQUIRE)) return;
    struct moment now = moment_now();
    uint64_t known = READ(process.nanos_per_count), rate = rate_since(origin, now);
    if (known && now.raw - origin.raw > 4 * FIRST_INTERVAL && (!rate || differ(rate, known, RATE_GRAIN))) reset_at(now);
    __atomic_store_n(&calibrating, 0, __ATOMIC_RELEASE);
}

void calibration_init(void) {
    if (!counter_is_forbidden()) begin_at(moment_now());
}

void calibration_report(struct clock_report *into) {
    uint64_t rate = READ(process.nanos_per_count);
    into->counter_hertz = rate ? (int64_t)(((uint64_t)NANOS_PER_SECOND << 32) / rate) : -1;
    into->calibrated_over_nanos = rate ? READ(calibrated_over) : -1;
    into->calibration_resets = READ(resets);
}
