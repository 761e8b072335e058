// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// How long a base may be used. A hypervisor that takes the processor away, and where the kernel accounts for them
// interrupts, let the counter run on while the thread's clock stands, and no marker tells. The clock is ahead by what was
// taken since the base, and right again with the next one. So if a share s of the time is taken, a thread that reads all
// through a base's life L is ahead by s * L / 2 on average. L is chosen so that this stays within the budget, and s is
// learned from each base that outlives its use: the next one tells by how much it was ahead.

#include "taskclock.h"

static const uint64_t LONGEST_LIFE = 10000000;  // ns
static const uint64_t SHORTEST_LIFE = 20000;    // ns: below, asking each time costs little more
static const int64_t DEFAULT_BUDGET = 100;      // ns

// What is assumed before anything is seen, as if it had been seen for so long: a life of 2 ms at the default budget where
// something may take time away, of 10 ms on bare metal.
static const uint64_t ASSUMED_OVER = 200000000;  // ns
static const int64_t ASSUMED_AHEAD = 20000;      // ns
static const int64_t ASSUMED_AHEAD_ON_METAL = 4000;
static const uint64_t MEMORY = 1000000000;  // ns; what is older counts half, and so on: the start of a JVM is no rule for later

// A residual beyond both, and twice in a row the same share of the base's age, is no disturbance: the rate is wrong.
static const int64_t LARGE = 5000;  // ns
enum { LARGE_SHARE = 128 };         // of the base's age
enum { ALIKE = 4 };                 // two shares that differ by less than one part in so many

static int64_t budget;  // of the mean error, ns

static int judging;  // whoever has set it may use what follows
static uint64_t over;
static int64_t ahead;
static uint64_t large_nanos;  // 0 where the last residual was not large
static int64_t large_by;
static uint64_t observed;  // without what was assumed, and never halved
static int64_t observed_ahead;
static uint64_t life_nanos;

// In /proc/stat's line of all processors: user nice system idle iowait irq softirq steal.
static int time_is_taken(void) {
    enum { IRQ = 5, STEAL = 7 };
    char text[256];
    long length = read_file("/proc/stat", text, sizeof text - 1);
    int field = -1, taken = 0;
    for (long i = 0; i < length && text[i] != '\n'; i++) {
        if (text[i] == ' ' && i + 1 < length && text[i + 1] != ' ') field++;
        if ((field == IRQ || field == STEAL) && text[i] >= '1' && text[i] <= '9') taken = 1;
    }
    return taken;
}

static void choose_life(void) {
    // Differences cancel out where nothing is taken, so their sum may be negative.
    uint64_t taken = (uint64_t)(ahead < 0 ? -ahead : ahead) + 1;
    uint64_t nanos = 2 * (uint64_t)budget * over / taken;
    if (nanos > LONGEST_LIFE) nanos = LONGEST_LIFE;
    if (nanos < SHORTEST_LIFE) nanos = 0;
    uint64_t change = nanos > life_nanos ? nanos - life_nanos : life_nanos - nanos;
    // Each reading loads what is written here, so not for nothing.
    if (change <= life_nanos / 8) return;
    WRITE(life_nanos, nanos);
    accuracy_rate_changed();
}

// Whether a base that outlived its use can make those to come live longer.
int life_can_grow(void) { return READ(life_nanos) < LONGEST_LIFE; }

void accuracy_rate_changed(void) {
    uint64_t rate = READ(process.nanos_per_count);
    if (rate) WRITE(process.life, (READ(life_nanos) << 32) / rate);
}

void accuracy_init(void) {
    budget = DEFAULT_BUDGET;
    over = ASSUMED_OVER;
    ahead = runs_under_hypervisor() || time_is_taken() ? ASSUMED_AHEAD : ASSUMED_AHEAD_ON_METAL;
    choose_life();
}

void set_accuracy(int64_t nanos) {
    while (__atomic_exchange_n(&judging, 1, __ATOMIC_ACQUIRE)) {}  // held for some instructions
    // More than the longest life would be no bound.
    WRITE(budget, nanos < (int64_t)LONGEST_LIFE ? nanos : (int64_t)LONGEST_LIFE);
    choose_life();
    __atomic_store_n(&judging, 0, __ATOMIC_RELEASE);
}

static uint64_t size_of(int64_t by) { return (uint64_t)(by < 0 ? -by : by); }

static int rate_is_wrong(uint64_t nanos, int64_t by) {
    int large = size_of(by) > (uint64_t)LARGE && size_of(by) > nanos / LARGE_SHARE;
    int wrong = 0;
    if (large && large_nanos) {
        __int128 share = (__int128)by * (int64_t)large_nanos, before = (__int128)large_by * (int64_t)nanos;
        __int128 apart = share > before ? share - before : before - share;
        wrong = apart < (before < 0 ? -before : before) / ALIKE;
    }
    large_nanos = large && !wrong ? nanos + 1 : 0;
    large_by = by;
    return wrong;
}

// The kernel says that a thread used so many nanoseconds since a base, which itself would have said so many more.
void judge_base(uint64_t nanos, int64_t by) {
    if (__atomic_exchange_n(&judging, 1, __ATOMIC_ACQUIRE)) return;  // another thread's tells as much
    int is_wrong = rate_is_wrong(nanos, by);
    // Readings were ahead by no more than a life, as they did not use the base for longer. Beyond it nothing else is known,
    // so a long age says what short ones would have.
    int64_t most = (int64_t)(life_nanos ? life_nanos : SHORTEST_LIFE);
    int64_t counted = by > most ? most : by < -most ? -most : by;
    if (over >= MEMORY) over /= 2, ahead /= 2;
    if (nanos > MEMORY) nanos = MEMORY;
    over += nanos;
    ahead += counted;
    WRITE(observed, observed + nanos);
    WRITE(observed_ahead, observed_ahead + counted);
    choose_life();
    __atomic_store_n(&judging, 0, __ATOMIC_RELEASE);
    // Nothing that takes time away makes the kernel count more than the counter does.
    if (is_wrong) by < 0 ? calibration_reset() : calibration_doubt();
}

void accuracy_report(struct clock_report *into) {
    into->budget_nanos = READ(budget);
    into->life_nanos = (int64_t)READ(life_nanos);
    into->observed_nanos = (int64_t)READ(observed);
    into->ahead_nanos = READ(observed_ahead);
}
