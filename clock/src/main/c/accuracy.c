// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Chooses how long a base may be used. When a hypervisor takes the processor away, or an interrupt does and the kernel
// accounts for it separately, the counter advances while the thread's clock does not, and the marker stays intact. The
// clock is then ahead by the time taken since the base, until the next base corrects it. If a share s of the time is
// taken, a thread that reads throughout a base's life L is ahead by s * L / 2 on average. L is chosen to keep this
// within the budget. If steps of the counter are long, a reading is also half a step old on average, which leaves less
// of the budget for L. s is learned from each base that is still valid when it is replaced: the difference from the
// next base shows how far ahead it was. A constant L would be simpler, but breaks the budget of 100 ns: beside a busy
// neighbor on the host, L = 2 ms gave 83 to 707 ns where learning gave 63 to 96.

#include "taskclock.h"

static const uint64_t LONGEST_LIFE = 10000000;  // ns
static const uint64_t SHORTEST_LIFE = 20000;    // ns; below this, asking the kernel each time costs little more
static const int64_t DEFAULT_BUDGET = 100;      // ns

// The initial estimate, weighted as if it had been observed for this long. At the default budget the life is then 2 ms,
// and if no time is taken, 10 ms after a second of use.
static const uint64_t ASSUMED_NANOS = 200000000;
static const int64_t ASSUMED_AHEAD = 20000;  // ns
// After each period the weight of older observations is halved, because the start of a JVM is not representative.
static const uint64_t DECAY_PERIOD = 1000000000;  // ns

static int64_t budget;  // bound on the mean error, ns

static int accuracy_lock;  // guards the variables below
static uint64_t sampled_nanos;
static int64_t sampled_ahead;
static uint64_t observed;            // without the initial estimate, and never halved
static int64_t observed_ahead;
static uint64_t life_nanos;

static void update_life(void) {
    // If no time is taken, the residuals cancel out, so their sum may be negative.
    uint64_t taken = magnitude(sampled_ahead) + 1;
    uint64_t nanos = 2 * (uint64_t)budget * sampled_nanos / taken;
    if (nanos > LONGEST_LIFE) nanos = LONGEST_LIFE;
    if (nanos < SHORTEST_LIFE) nanos = 0;
    uint64_t change = nanos > life_nanos ? nanos - life_nanos : life_nanos - nanos;
    // Every reading loads this variable, so small changes are not worth a write.
    if (change <= life_nanos / 8) return;
    WRITE(life_nanos, nanos);
    accuracy_rate_changed();
}

// Returns whether observing another base can lengthen the life of later ones.
int life_can_grow(void) { return READ(life_nanos) < LONGEST_LIFE; }

// Returns the part of the life that the length of a step leaves; 0 if the budget is below half a step.
static uint64_t life_with_steps(uint64_t rate) {
    uint64_t most = (uint64_t)READ(budget), half_step = rate >> 33;  // ns
    return half_step < most ? READ(life_nanos) * (most - half_step) / most : 0;
}

void accuracy_rate_changed(void) {
    uint64_t rate = READ(process.nanos_per_count);
    if (rate) WRITE(process.life, (life_with_steps(rate) << 32) / rate);
}

void accuracy_init(void) {
    budget = DEFAULT_BUDGET;
    sampled_nanos = ASSUMED_NANOS;
    sampled_ahead = ASSUMED_AHEAD;
    update_life();
}

void set_accuracy(int64_t nanos) {
    while (__atomic_exchange_n(&accuracy_lock, 1, __ATOMIC_ACQUIRE)) {}  // the lock is held only briefly
    // A budget above the longest life would not limit anything.
    WRITE(budget, nanos < (int64_t)LONGEST_LIFE ? nanos : (int64_t)LONGEST_LIFE);
    update_life();
    accuracy_rate_changed();
    __atomic_store_n(&accuracy_lock, 0, __ATOMIC_RELEASE);
}

// Records how far ahead a base was when the next one was taken, `nanos` of CPU time later.
void record_residual(uint64_t nanos, int64_t residual) {
    if (__atomic_exchange_n(&accuracy_lock, 1, __ATOMIC_ACQUIRE)) return;  // another thread is recording one
    // No reading was ahead by more than a life, because none used the base for longer. So residuals are capped at it.
    int64_t limit = (int64_t)(life_nanos ? life_nanos : SHORTEST_LIFE);
    int64_t counted = residual > limit ? limit : residual < -limit ? -limit : residual;
    if (sampled_nanos >= DECAY_PERIOD) sampled_nanos /= 2, sampled_ahead /= 2;
    if (nanos > DECAY_PERIOD) nanos = DECAY_PERIOD;
    sampled_nanos += nanos;
    sampled_ahead += counted;
    WRITE(observed, observed + nanos);
    WRITE(observed_ahead, observed_ahead + counted);
    update_life();
    __atomic_store_n(&accuracy_lock, 0, __ATOMIC_RELEASE);
}

void accuracy_report(struct clock_report *into) {
    into->budget_nanos = READ(budget);
    uint64_t rate = READ(process.nanos_per_count);
    into->life_nanos = (int64_t)(rate ? life_with_steps(rate) : READ(life_nanos));
    into->observed_nanos = (int64_t)READ(observed);
    into->ahead_nanos = READ(observed_ahead);
}
