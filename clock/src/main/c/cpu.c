// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Asks the kernel for the calling thread's cpu, and takes a base where one will be of use.

#include "cpu.h"

__thread struct thread_clock self;

// Where the marker of a thread goes that has no area. It is never set, so each read asks the kernel.
static volatile uint64_t no_marker;

// Where in between the two counter reads the kernel read its clock is not known: a base is off by half of that at most.
static const uint64_t MOST_APART = 2000;  // ns
// Counts between the two at best. What takes twice as long was disturbed, which only matters beyond MOST_APART: where the
// caches are cold nothing is quick. Where nothing is as quick any more, as on a processor that was slowed down, it is
// forgotten bit by bit.
static uint64_t quickest = UINT64_MAX;

// Before the first base: otherwise a disturbance would be mistaken for what a system call takes.
void time_kernel(void) {
    enum { TIMES = 16 };
    for (int i = 0; i < TIMES; i++) {
        uint64_t before = counter();
        clock_nanos(OWN_SCHED);
        uint64_t took = counter() - before;
        if (took < READ(quickest)) WRITE(quickest, took);
    }
}

enum { UNUSED_BASES = 4, ASKS_A_BASE = 32 };

// The first base after a switch is used for this part of a life.
enum { FIRST_LIFE = 8 };

enum { ASKS_A_CALIBRATION = 256 };
enum { STALLED_READINGS = 64 };

// What was known of the machine may be wrong now.
void machine_changed(void) {
    WRITE(process.rung, RUNG_SYSCALL);
    WRITE(process.restores, process.restores + 1);
    calibration_reset();
}

// The thread's clock began anew, and so do we: a checkpoint was restored, or this is a child made by fork, whose process
// began anew as well.
static void restart(struct thread_clock *t) {
    struct carrier *c = t->carrier;
    if (c) carrier_restarted(c, (int64_t)t->cpu, (int64_t)t->user);
    *t = (struct thread_clock){
        .marker = t->marker, .carrier = c, .is_asking = t->is_asking, .is_splitting = t->is_splitting};
    if (present_rung() != RUNG_SYSCALL) machine_changed();
}

static uint64_t never_less(struct thread_clock *t, uint64_t cpu) {
    if (cpu < READ(t->last_cpu)) return t->last_cpu;
    WRITE(t->last_cpu, cpu);
    return cpu;
}

static uint64_t kernel_cpu(struct thread_clock *t) {
    uint64_t before = READ(t->kernel_cpu);
    int64_t cpu = clock_nanos(OWN_SCHED);
    if (cpu < 0) return UNKNOWN;
    if ((uint64_t)cpu < before) restart(t);
    // A handler may have asked meanwhile.
    if ((uint64_t)cpu > READ(t->kernel_cpu)) WRITE(t->kernel_cpu, (uint64_t)cpu);
    return (uint64_t)cpu;
}

// Whether a base is worth a marker and two readings of the counter. A thread that is always switched out before it can use
// one takes no more of them, but for two in a row now and then, by which it notices that this has changed.
static int wants_base(struct thread_clock *t) {
    int rung = present_rung();
    if (rung == RUNG_SYSCALL) return 0;
    if (!t->marker) {
        volatile uint64_t *place = rseq_marker_place(rung);
        t->marker = place ? place : &no_marker;
    }
    if (t->marker == &no_marker) return 0;
    if (t->life) {
        int was_used = t->last_cpu != t->unused_from;
        int was_too_slow = *t->marker == process_marker();
        if (was_used || (was_too_slow && life_can_grow())) t->unused_bases = 0;
        else if (t->unused_bases < UNUSED_BASES) t->unused_bases++;
    }
    if (++t->asks % ASKS_A_BASE <= 1) return 1;
    return t->unused_bases < UNUSED_BASES && READ(process.life);
}

// What the old base would have said of now, if it outlived its use, tells how far it can be trusted.
static void judge(const struct thread_clock *t, uint64_t old_counter, uint64_t old_cpu) {
    uint64_t used = t->base_cpu - old_cpu;
    uint64_t said = (uint64_t)(((unsigned __int128)(t->base_counter - old_counter) * t->rate) >> 32);
    judge_base(used, (int64_t)(said - used));
}

static uint64_t take_base(struct thread_clock *t) {
    uint64_t marker = process_marker(), rate = READ(process.nanos_per_count);
    uint64_t old_counter = t->base_counter, old_cpu = t->base_cpu, last_asked = t->kernel_cpu;
    int outlived = t->life && *t->marker == marker;
    // Not by a rough one, nor by another rate.
    int can_judge = outlived && !t->base_is_rough && t->rate == rate;
    WRITE(t->life, 0);
    // The marker first, so that a switch at any moment after is seen.
    *t->marker = marker;
    uint64_t before = counter();
    uint64_t cpu = kernel_cpu(t);
    uint64_t took = counter() - before;
    if (cpu == UNKNOWN) return UNKNOWN;
    if (calibration_is_due(before) || t->asks % ASKS_A_CALIBRATION == 0) calibrate();
    uint64_t least = READ(quickest);
    if (took < least) WRITE(quickest, least = took);
    int rough = took > 2 * least;
    if (rough) WRITE(quickest, least + least / 64);
    if (!rate || cpu < last_asked || (rough && ((took * rate) >> 32) > MOST_APART)) {
        *t->marker = 0;
        return never_less(t, cpu);
    }
    WRITE(t->base_counter, before + took / 2);
    WRITE(t->base_cpu, cpu);
    WRITE(t->rate, rate);
    t->base_is_rough = (uint8_t)rough;
    if (can_judge && !rough && *t->marker == marker) judge(t, old_counter, old_cpu);
    uint64_t life = READ(process.life);
    // Threads that others preempt would never outlive a base, and nothing would be learned from them.
    if (!outlived) life /= FIRST_LIFE;
    // That may have shown that the rate is wrong.
    if (READ(process.nanos_per_count)) WRITE(t->life, life ? life : 1);
    uint64_t now = never_less(t, cpu + ((took / 2 * rate) >> 32));
    t->unused_from = t->last_cpu;
    return now;
}

__attribute__((noinline)) uint64_t ask_kernel(struct thread_clock *t) {
    // A signal's handler that reads while the thread it interrupted is here leaves the base alone.
    if (!t->is_asking) {
        t->is_asking = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        int wanted = wants_base(t);
        if (!wanted) WRITE(t->life, 0);
        uint64_t cpu = wanted ? take_base(t) : 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        t->is_asking = 0;
        if (wanted) return cpu;
    }
    uint64_t cpu = kernel_cpu(t);
    return cpu == UNKNOWN ? UNKNOWN : never_less(t, cpu);
}

// The base said less than was answered before: it was ahead, and the clock stands until the thread has caught up. Where it
// says the same over and over, the counter stands.
__attribute__((noinline)) uint64_t does_not_grow(struct thread_clock *t, uint64_t cpu) {
    if (cpu != t->stalled_at) t->stalled_readings = 0;
    t->stalled_at = cpu;
    return ++t->stalled_readings % STALLED_READINGS ? READ(t->last_cpu) : ask_kernel(t);
}
