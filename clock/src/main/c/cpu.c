// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Asks the kernel for the calling thread's CPU time and takes a base if it will be useful.

#include "cpu.h"

__thread struct thread_clock self;

// The marker addresses of a thread without an area, and of one that has given its area back. They are never set, so
// each reading asks the kernel.
static volatile uint64_t no_marker, given_back;

// The kernel reads its clock at an unknown point between two counter reads, so a base is off by at most half their
// span.
static const uint64_t MAX_READ_SPAN = 2000;  // ns
// The smallest span seen, in counts. A read that takes twice as long was disturbed. This matters only beyond
// MAX_READ_SPAN, because every read is slow while caches are cold. The value grows slowly if reads are no longer that
// fast, for instance because the processor was slowed down.
static uint64_t min_read_counts = UINT64_MAX;

// Measures the cost of a read from the kernel. Called before the first base is taken; otherwise a disturbance would be
// mistaken for that cost.
void time_kernel_read(void) {
    enum { TIMES = 16 };
    for (int i = 0; i < TIMES; i++) {
        uint64_t before = counter();
        clock_nanos(OWN_SCHED);
        uint64_t took = counter() - before;
        if (took < READ(min_read_counts)) WRITE(min_read_counts, took);
    }
}

enum { MAX_UNUSED_BASES = 4, READS_PER_BASE = 32 };

// The first base after a switch lives for this fraction of a full life.
enum { FIRST_LIFE_DIVISOR = 8 };

enum { READS_PER_CALIBRATION = 256 };
enum { STALLED_READINGS = 64 };

// Discards what is known about the machine, because it may have changed.
void machine_changed(void) {
    WRITE(process.backend, BACKEND_SYSCALL);
    WRITE(process.restores, process.restores + 1);
    calibration_reset();
}

// Adjusts the record after the carrier's clock, which had these values, restarted from zero.
static void rebase_carrier(struct carrier *c, int64_t cpu, int64_t user) {
    WRITE(c->first_cpu, READ(c->first_cpu) - cpu);
    WRITE(c->first_user, READ(c->first_user) - user);
    WRITE(c->last_cpu, READ(c->last_cpu) - cpu);
    WRITE(c->last_user, READ(c->last_user) - user);
    WRITE(c->cpu_offset, READ(c->cpu_offset) - cpu);
    WRITE(c->user_offset, READ(c->user_offset) - user);
}

// Resets our state after the kernel's clock of this thread restarted from zero, because a checkpoint was restored or
// this is a forked child.
static void reset_clock(struct thread_clock *t) {
    struct carrier *c = t->carrier.record;
    if (c) rebase_carrier(c, (int64_t)t->carrier.times.cpu, (int64_t)t->carrier.times.user);
    *t = (struct thread_clock){
        .marker = t->marker,
        .published = t->published,
        .carrier.record = c,
        .carrier.cpu_offset = t->carrier.cpu_offset - (int64_t)t->carrier.times.cpu,
        .is_asking = t->is_asking,
        .is_splitting = t->is_splitting,
    };
    if (t->published) WRITE(t->published->cpu, 0);
    if (current_backend() != BACKEND_SYSCALL) machine_changed();
}

static uint64_t monotonic_cpu(struct thread_clock *t, uint64_t cpu) {
    if (cpu < READ(t->last_cpu)) return t->last_cpu;
    WRITE(t->last_cpu, cpu);
    return cpu;
}

static uint64_t kernel_cpu(struct thread_clock *t) {
    uint64_t before = READ(t->kernel_cpu);
    int64_t cpu = clock_nanos(OWN_SCHED);
    if (cpu < 0) return UNKNOWN;
    if ((uint64_t)cpu < before) reset_clock(t);
    // A signal handler may have read a later value in the meantime.
    if ((uint64_t)cpu > READ(t->kernel_cpu)) WRITE(t->kernel_cpu, (uint64_t)cpu);
    return (uint64_t)cpu;
}

static int has_marker(const struct thread_clock *t) {
    return t->marker && t->marker != &no_marker && t->marker != &given_back;
}

// A signal handler may do this while a reading uses the base, which then changes.
static void give_marker_back(struct thread_clock *t) {
    if (!t->marker) return;
    if (has_marker(t)) {
        WRITE(t->life, 0);
        WRITE(t->base_counter, 0);
        if (!rseq_give_back(t->marker)) return;
    }
    t->marker = &given_back;
}

// Returns whether a base is worth a marker and two counter reads. A thread that is always switched out before it can
// use a base stops taking bases, except for two in a row now and then, to detect whether this has changed.
static int should_take_base(struct thread_clock *t) {
    int backend = current_backend();
    if (backend == BACKEND_SYSCALL) {
        give_marker_back(t);
        return 0;
    }
    if (!t->marker || t->marker == &given_back) {
        // A library may have been loaded since the backend was selected.
        if (backend == BACKEND_RSEQ_TAKE && rseq_user()) {
            stop_taking();
            return 0;
        }
        volatile uint64_t *address = rseq_marker_address(backend);
        if (address && !t->published) start_publishing(t);
        t->marker = address ? address : &no_marker;
    }
    if (t->marker == &no_marker) return 0;
    if (t->life) {
        int was_used = t->last_cpu != t->cpu_at_base;
        int has_expired = *t->marker == process_marker();  // its life is over, but there was no switch
        if (was_used || (has_expired && life_can_grow())) t->unused_bases = 0;
        else if (t->unused_bases < MAX_UNUSED_BASES) t->unused_bases++;
    }
    if (++t->kernel_reads % READS_PER_BASE <= 1) return 1;
    return t->unused_bases < MAX_UNUSED_BASES && READ(process.life);
}

// Compares the new base with what the old one would give now, to learn how far a base can be trusted.
static void compare_bases(const struct thread_clock *t, uint64_t old_counter, uint64_t old_cpu) {
    uint64_t used = t->base_cpu - old_cpu;
    uint64_t predicted = (uint64_t)(((unsigned __int128)(t->base_counter - old_counter) * t->rate) >> 32);
    record_residual(used, (int64_t)(predicted - used));
    calibration_check(used, (int64_t)(predicted - used));
}

static uint64_t take_base(struct thread_clock *t) {
    uint64_t marker = process_marker(), rate = READ(process.nanos_per_count);
    uint64_t old_counter = t->base_counter, old_cpu = t->base_cpu, last_kernel_cpu = t->kernel_cpu;
    int was_valid = t->life && *t->marker == marker;
    // A rough base, or one with another rate, is not comparable.
    int can_compare = was_valid && !t->base_is_rough && t->rate == rate;
    WRITE(t->life, 0);
    // The marker is set first, so that a switch at any later point is detected. One that is set is left alone, because
    // it may be removed just now.
    if (*t->marker != marker) {
        t->carrier.was_switched = 1;
        *t->marker = marker;
    }
    uint64_t before = counter();
    uint64_t cpu = kernel_cpu(t);
    uint64_t took = counter() - before;
    if (cpu == UNKNOWN) return UNKNOWN;
    if (calibration_is_due(before) || t->kernel_reads % READS_PER_CALIBRATION == 0) {
        calibrate();
        accuracy_rate_changed();
    }
    uint64_t least = READ(min_read_counts);
    if (took < least) WRITE(min_read_counts, least = took);
    int rough = took > 2 * least;
    if (rough) WRITE(min_read_counts, least + least / 64 + 1);
    if (!rate || cpu < last_kernel_cpu || (rough && ((took * rate) >> 32) > MAX_READ_SPAN)) {
        return monotonic_cpu(t, cpu);
    }
    // If a step of the counter is long, half a span is rounded up: the base must not be ahead.
    WRITE(t->base_counter, before + (took + 1) / 2);
    WRITE(t->base_cpu, cpu);
    WRITE(t->rate, rate);
    t->base_is_rough = (uint8_t)rough;
    if (can_compare && !rough && *t->marker == marker) compare_bases(t, old_counter, old_cpu);
    uint64_t life = READ(process.life);
    // This life is shorter, because a thread that is often preempted would otherwise never have two valid bases to
    // compare.
    if (!was_valid) life /= FIRST_LIFE_DIVISOR;
    // The comparison may have shown that the rate is wrong.
    if (READ(process.nanos_per_count)) WRITE(t->life, life ? life : 1);
    uint64_t now = monotonic_cpu(t, cpu + ((took / 2 * rate) >> 32));
    t->cpu_at_base = t->last_cpu;
    WRITE(t->published->kernel_cpu, cpu);
    WRITE(t->published->cpu, now);
    return now;
}

__attribute__((noinline)) uint64_t ask_kernel(struct thread_clock *t) {
    // A signal handler that interrupts this block does not change the base.
    if (!t->is_asking) {
        t->is_asking = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        int takes_base = should_take_base(t);
        if (!takes_base) WRITE(t->life, 0);
        uint64_t cpu = takes_base ? take_base(t) : 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        t->is_asking = 0;
        if (takes_base) return cpu;
    }
    uint64_t cpu = kernel_cpu(t);
    return cpu == UNKNOWN ? UNKNOWN : monotonic_cpu(t, cpu);
}

// Sets the marker without asking the kernel, so there is no base. Returns 0 if markers or the counter cannot be used.
int set_own_marker(struct thread_clock *t) {
    if (!has_marker(t) || current_backend() == BACKEND_SYSCALL) return 0;
    if (!READ(process.life) || !READ(process.nanos_per_count)) return 0;
    // If a signal handler took a base here, the marker would hide a switch after it.
    t->is_asking = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    WRITE(t->life, 0);
    *t->marker = process_marker();
    t->carrier.was_switched = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->is_asking = 0;
    return 1;
}

void clear_own_marker(struct thread_clock *t) {
    if (has_marker(t)) *t->marker = 0;
}

// Called if the base gives no more than the last value returned. That value was ahead, so the clock pauses until the
// thread has caught up. If the base keeps giving the same value, the counter has stopped.
__attribute__((noinline)) uint64_t handle_stall(struct thread_clock *t, uint64_t cpu) {
    if (cpu != t->stalled_cpu) t->stalled_readings = 0;
    t->stalled_cpu = cpu;
    return ++t->stalled_readings % STALLED_READINGS ? READ(t->last_cpu) : ask_kernel(t);
}
