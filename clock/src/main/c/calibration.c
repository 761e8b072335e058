// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Measures the counter's rate against CLOCK_MONOTONIC_RAW, which runs at the same rate as the scheduler's clock. The
// first two measurements take a few milliseconds each, and their results must agree. The first one is enough if it
// agrees with the rate that the processor reports. The next ones take increasing intervals of up to a second. After
// that, the rate is measured again in each second of use. This detects a counter that changes its rate, stops, or jumps
// because the machine was suspended, migrated, or restored.

#include "taskclock.h"

enum { TRIES = 4 };
static const int64_t FIRST_INTERVAL = 4000000;  // ns; 50 ns of error in 4 ms amount to 125 ns in 10 ms
static const int64_t LONGEST_INTERVAL = NANOS_PER_SECOND;
enum { AGREEMENT_DIVISOR = 2048 };       // the first two rates may differ by this fraction
enum { RATE_TOLERANCE_DIVISOR = 1024 };  // a known rate that is off by more than this fraction is wrong

// A residual is how far ahead a base was when the next one was taken. If two consecutive residuals exceed both limits
// and are the same share of their base's age, this is not a disturbance: the rate is wrong.
static const int64_t LARGE_RESIDUAL = 5000;  // ns
enum { LARGE_RESIDUAL_DIVISOR = 128 };       // the limit is this fraction of the base's age
enum { SIMILARITY_DIVISOR = 4 };             // shares that differ by less than this fraction are the same

// One point in time on both clocks.
struct moment {
    uint64_t counter;
    int64_t raw;
};

static int calibration_lock;  // guards the variables below
static struct moment origin, middle;
static uint64_t first_rate;  // from origin to middle, or as the processor reports; 0 until it is known
static int64_t interval;     // from origin to the next calibration, ns

static uint64_t calibrated_at;   // counter value
static uint64_t due_counts;      // counts from calibrated_at to the next calibration; 0 while no rate is known
static int64_t calibrated_over;  // ns
static int64_t resets;

static uint64_t large_residual_age;  // of its base; 0 if the last residual was not large
static int64_t large_residual;

// Reads both clocks. Returns the fastest of several attempts, because the reads may be interrupted.
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

static int differs(uint64_t a, uint64_t b, uint64_t divisor) { return (a > b ? a - b : b - a) > b / divisor; }

// Returns nanoseconds per count in units of 2^-32; 0 unless both clocks advanced.
static uint64_t rate_since(struct moment then, struct moment now) {
    if (now.counter <= then.counter || now.raw <= then.raw) return 0;
    uint64_t nanos = (uint64_t)(now.raw - then.raw), counts = now.counter - then.counter;
    while (nanos >> 31) nanos >>= 1, counts >>= 1;
    return counts ? (nanos << 32) / counts : 0;
}

static void restart_at(struct moment now) {
    origin = now;
    first_rate = 0;
    interval = FIRST_INTERVAL;
    WRITE(calibrated_over, 0);
    WRITE(due_counts, 0);
    __atomic_store_n(&process.nanos_per_count, 0, __ATOMIC_RELEASE);
}

static void set_rate(uint64_t rate, struct moment now) {
    WRITE(calibrated_over, now.raw - origin.raw);
    interval = 2 * (now.raw - origin.raw);
    if (interval > LONGEST_INTERVAL) {
        interval = LONGEST_INTERVAL;
        origin = now;
    }
    WRITE(due_counts, ((uint64_t)interval << 32) / rate);
    __atomic_store_n(&process.nanos_per_count, rate, __ATOMIC_RELEASE);
}

static void reset_at(struct moment now) {
    WRITE(resets, resets + 1);
    restart_at(now);
}

static void measure_rate(struct moment now) {
    uint64_t rate = rate_since(origin, now), known = READ(process.nanos_per_count);
    if (known) {
        if (rate && !differs(rate, known, RATE_TOLERANCE_DIVISOR)) return set_rate(rate, now);
        reset_at(now);
    } else if (!rate || (!first_rate && now.raw - origin.raw > LONGEST_INTERVAL)) {
        // Nobody needed the rate until now, and the interval that must agree would be longer than that.
        restart_at(now);
    } else if (!first_rate) {
        first_rate = rate;
        middle = now;
        interval = 2 * (now.raw - origin.raw);
    } else if (differs(rate_since(middle, now), first_rate, AGREEMENT_DIVISOR)) {
        restart_at(now);
    } else {
        set_rate(rate, now);
    }
}

int calibration_is_due(uint64_t counts) {
    uint64_t due = READ(due_counts);
    // The difference is unsigned, so calibration is also due after the counter was set back.
    return !due || counts - READ(calibrated_at) >= due;
}

// Any thread may calibrate; no other thread waits for it.
void calibrate(void) {
    if (__atomic_exchange_n(&calibration_lock, 1, __ATOMIC_ACQUIRE)) return;
    uint64_t counts = counter();
    WRITE(calibrated_at, counts);
    // If the counter was set back or has stopped, there is no point in waiting.
    if (raw_clock_nanos() - origin.raw >= interval || counts <= origin.counter) measure_rate(moment_now());
    __atomic_store_n(&calibration_lock, 0, __ATOMIC_RELEASE);
}

void calibration_reset(void) {
    if (counter_is_forbidden()) return;
    if (__atomic_exchange_n(&calibration_lock, 1, __ATOMIC_ACQUIRE)) return;
    reset_at(moment_now());
    __atomic_store_n(&calibration_lock, 0, __ATOMIC_RELEASE);
}

static int is_repeated(uint64_t nanos, int64_t residual) {
    int large = magnitude(residual) > (uint64_t)LARGE_RESIDUAL && magnitude(residual) > nanos / LARGE_RESIDUAL_DIVISOR;
    int repeated = 0;
    if (large && large_residual_age) {
        __int128 share = (__int128)residual * (int64_t)large_residual_age;
        __int128 before = (__int128)large_residual * (int64_t)nanos;
        __int128 difference = share > before ? share - before : before - share;
        repeated = difference < (before < 0 ? -before : before) / SIMILARITY_DIVISOR;
    }
    large_residual_age = large && !repeated ? nanos + 1 : 0;
    large_residual = residual;
    return repeated;
}

// Compares with the raw clock, if the origin is far enough in the past.
static int raw_clock_contradicts(struct moment now) {
    uint64_t known = READ(process.nanos_per_count), rate = rate_since(origin, now);
    int is_wrong = !rate || differs(rate, known, RATE_TOLERANCE_DIVISOR);
    return known && now.raw - origin.raw > 4 * FIRST_INTERVAL && is_wrong;
}

void calibration_check(uint64_t nanos, int64_t residual) {
    if (__atomic_exchange_n(&calibration_lock, 1, __ATOMIC_ACQUIRE)) return;
    if (is_repeated(nanos, residual)) {
        struct moment now = moment_now();
        // Either the rate is wrong or time was taken. That never makes the kernel count more than the counter does.
        if (residual < 0 || raw_clock_contradicts(now)) reset_at(now);
    }
    __atomic_store_n(&calibration_lock, 0, __ATOMIC_RELEASE);
}

void calibration_init(void) {
    if (counter_is_forbidden()) return;
    restart_at(moment_now());
    uint64_t hertz = nominal_hertz();
    if (!hertz) return;
    first_rate = ((uint64_t)NANOS_PER_SECOND << 32) / hertz;
    middle = origin;
}

void calibration_report(struct clock_report *into) {
    uint64_t rate = READ(process.nanos_per_count);
    into->counter_hertz = rate ? (int64_t)(((uint64_t)NANOS_PER_SECOND << 32) / rate) : -1;
    into->calibrated_over_nanos = rate ? READ(calibrated_over) : -1;
    into->calibration_resets = READ(resets);
}
