// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Virtual threads: the CPU time that a carrier uses between a mount and an unmount belongs to the mounted thread. The
// agent calls these functions.
//
// A stretch is the time between two looks at the carrier's clock: the carrier's own work up to a mount, or what a
// mounted thread does up to its unmount or to a reading. If the carrier was not switched out in it, the counter tells
// exactly how much CPU time it used, no matter what happened before. If it was, only the kernel knows. The kernel takes
// 5 us to answer on a busy machine, because it needs the lock of the run queue, which others hold while they wake
// threads. So it is asked at most once per ASK_INTERVAL. Interrupted stretches in between get what such a stretch uses
// on average. Hence
//
//   - the carrier's time is right within ASK_INTERVAL, and errors do not add up: later stretches make up for them;
//   - no stretch is estimated to take longer than its wall-clock time, and a mount of MAX_ESTIMATED or longer is
//     measured.
//
// Signals remove the marker, too. None of these functions may be called in a signal handler.

#include "split.h"

static const int64_t ASK_INTERVAL = 1000000;  // ns

// How often a stretch of each kind is measured to learn the average.
static const int64_t SAMPLE_INTERVAL = 8000000;  // ns

// A mount with at least this wall-clock time is measured even if the kernel was asked a moment ago.
static const int64_t MAX_ESTIMATED = 200000;  // ns

// A measured stretch makes up for earlier errors only beyond this.
static const int64_t MAX_AHEAD = 50000;  // ns

// An unmount measures the split again only if the carrier has used more CPU time than this since the last measurement.
enum { SPLIT_SHIFT = 10, MAX_UNMEASURED = 1000000 >> SPLIT_SHIFT };  // units of 2^SPLIT_SHIFT ns

enum stretch { OWN, MOUNTED };

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

static int64_t nanos_between(uint64_t from, uint64_t to) {
    unsigned __int128 nanos = ((unsigned __int128)(to - from) * READ(process.nanos_per_count)) >> 32;
    return nanos > INT64_MAX ? INT64_MAX : (int64_t)nanos;
}

// Estimates the CPU time of an interrupted stretch. Half of it may make up for earlier errors.
static uint64_t estimate(struct carrier_clock *c, enum stretch stretch, int64_t wall) {
    int64_t mean = c->mean[stretch];
    int64_t used = clamp(mean - clamp(c->ahead, -mean / 2, mean / 2), 0, wall);
    c->ahead += used - (mean < wall ? mean : wall);
    c->has_estimates = 1;
    return c->times.cpu + (uint64_t)used;
}

// Asks the kernel. If nothing was estimated before, the time since the last question is what this stretch has used.
// Otherwise, one that was interrupted gets what makes the carrier's time that of the kernel, and one that was not gets
// what the counter says.
static uint64_t ask(struct thread_clock *t, enum stretch stretch, int was_switched) {
    enum { SAMPLES = 8 };
    struct carrier_clock *c = &t->carrier;
    uint64_t from = c->counter, last = c->asked_counter, before = counter();
    was_switched |= t->carrier.was_switched || !t->marker || *t->marker != process_marker();
    uint64_t cpu = cpu_now(t);
    // From here on, a switch belongs to the next stretch.
    if (was_switched) t->carrier.was_switched = 0;
    uint64_t after = counter();
    // A backend that is switched off may have been found to be wrong.
    if (current_backend() == BACKEND_SYSCALL) clear_own_marker(t);
    WRITE(c->record->questions, READ(c->record->questions) + 1);
    c->counter = c->asked_counter = after;
    if (cpu == UNKNOWN) return UNKNOWN;
    int64_t missing = (int64_t)(cpu - c->times.cpu), used;
    if (!c->has_estimates || !READ(process.nanos_per_count)) {
        used = clamp(missing + clamp(c->ahead, -MAX_AHEAD, MAX_AHEAD), 0, INT64_MAX);
        // One that began long ago is no sample of those that will be estimated.
        if (was_switched && nanos_between(last, after) < ASK_INTERVAL) {
            int64_t sample = clamp(missing + c->ahead, 0, ASK_INTERVAL);
            int64_t weight = c->sampled_counter[stretch] ? SAMPLES : 1;
            c->mean[stretch] += (sample - c->mean[stretch]) / weight;
            c->sampled_counter[stretch] = after;
        }
    } else if (was_switched) {
        used = clamp(missing, 0, nanos_between(from, after));
    } else {
        // The kernel knows at most ASK_INTERVAL less, because that is all that can have been estimated.
        used = clamp(nanos_between(from, before), 0, clamp(missing, 0, INT64_MAX - ASK_INTERVAL) + ASK_INTERVAL);
        c->counter = before;
    }
    c->has_estimates = 0;
    c->ahead = used - missing;
    return c->times.cpu + (uint64_t)used;
}

static __attribute__((noinline)) uint64_t ask_or_estimate(struct thread_clock *t, enum stretch stretch, int exact) {
    struct carrier_clock *c = &t->carrier;
    int was_switched = t->carrier.was_switched || !t->marker || *t->marker != process_marker();
    if (!was_switched || !set_own_marker(t)) return ask(t, stretch, was_switched);
    uint64_t now = counter();
    int64_t wall = nanos_between(c->counter, now);
    int is_long = stretch == MOUNTED && wall >= MAX_ESTIMATED;
    int is_sample = !c->has_estimates && nanos_between(c->sampled_counter[stretch], now) >= SAMPLE_INTERVAL;
    int is_due = nanos_between(c->asked_counter, now) >= ASK_INTERVAL;
    if (exact || !wall || is_long || is_sample || is_due) return ask(t, stretch, 1);
    c->counter = now;
    return estimate(c, stretch, wall);
}

// Returns the carrier's CPU time; UNKNOWN if the kernel refuses. After a switch, it may be estimated unless it must be
// exact.
static inline uint64_t carrier_cpu(struct thread_clock *t, enum stretch stretch, int exact) {
    struct carrier_clock *c = &t->carrier;
    if (__builtin_expect(!t->marker || *t->marker != process_marker() || t->carrier.was_switched, 0))
        return ask_or_estimate(t, stretch, exact);
    uint64_t life = READ(process.life), rate = READ(process.nanos_per_count);
    uint64_t now = counter(), counts = now - c->counter;
    int is_old = now - c->asked_counter >= life || counts - 1 >= life || !rate;  // or the counter has stopped or jumped
    if (__builtin_expect(is_old || *t->marker != process_marker() || t->carrier.was_switched, 0))
        return ask_or_estimate(t, stretch, exact);
    c->counter = now;
    return c->times.cpu + ((counts * rate) >> 32);
}

static void start_carrying(struct thread_clock *t) {
    struct carrier *c = claim_slot(&process.carriers, sizeof *c, own_tid());
    if (!c) return;
    if (!read_clock(t)) return release_slot(c);
    if (!READ(c->index)) WRITE(c->index, (int32_t)__atomic_add_fetch(&process.carrier_count, 1, __ATOMIC_RELAXED));
    // The record already contains the time that its previous threads used and carried. The differences must include it.
    WRITE(c->first_cpu, (int64_t)t->times.cpu - (READ(c->last_cpu) - READ(c->first_cpu)));
    WRITE(c->first_user, (int64_t)t->times.user - (READ(c->last_user) - READ(c->first_user)));
    WRITE(c->last_cpu, (int64_t)t->times.cpu);
    WRITE(c->last_user, (int64_t)t->times.user);
    uint64_t now = counter();
    t->carrier = (struct carrier_clock){.record = c, .times = t->times, .counter = now, .asked_counter = now};
}

static void record_time(struct carrier *c, const struct times *times) {
    WRITE(c->last_cpu, (int64_t)times->cpu);
    WRITE(c->last_user, (int64_t)times->user);
}

// The release store orders the fields before a mount. The fence orders an unmount before the fields that the next mount
// writes: otherwise, a reader could see those with the sequence of the mount before. Readers read the sequence, the
// fields, and the sequence again, with a load fence after each (org.taskclock.VirtualThreadClock, carriers()).
static void increment_sequence(struct carrier *c) {
    __atomic_store_n(&c->sequence, READ(c->sequence) + 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

// Like split, but twice as fast, because it leaves the correction toward the measured split to a later unmount.
static void extrapolate(struct thread_clock *t, uint64_t cpu) {
    struct times *times = &t->carrier.times;
    uint64_t elapsed = cpu - times->cpu;
    if (elapsed >> 32) return split(t, times, cpu);
    times->cpu = cpu;
    times->user += (elapsed * t->user_share) >> 32;
}

// If the kernel refuses, time does not advance.
static uint64_t cpu_or_last(struct thread_clock *t, enum stretch stretch) {
    uint64_t cpu = carrier_cpu(t, stretch, 0);
    return cpu == UNKNOWN ? t->carrier.times.cpu : cpu;
}

// Mounts a virtual thread that has used this much CPU (from PARTIAL_ORIGIN on if it is partial) and user time so far.
// Returns the address of the carrier's record; 0 if out of memory.
int64_t mount(int64_t cpu, int64_t user) {
    struct thread_clock *t = own_clock();
    if (!t->carrier.record) start_carrying(t);
    struct carrier *c = t->carrier.record;
    if (!c) return 0;
    const struct times *times = &t->carrier.times;
    extrapolate(t, cpu_or_last(t, OWN));
    // The last unmount failed, so the time since the last mount counts as the carrier's own.
    if (READ(c->sequence) & 1) increment_sequence(c);
    t->carrier.cpu_offset = (int64_t)times->cpu - cpu;
    WRITE(c->cpu_offset, t->carrier.cpu_offset - t->carrier.ahead);
    WRITE(c->user_offset, (int64_t)times->user - user);
    record_time(c, times);
    increment_sequence(c);
    return (int64_t)c;
}

// Unmounts the virtual thread. Returns its CPU time; its user time is the record's last_user - user_offset.
int64_t unmount(void) {
    struct thread_clock *t = own_clock();
    struct carrier *c = t->carrier.record;
    const struct times *times = &t->carrier.times;
    uint64_t cpu = cpu_or_last(t, MOUNTED);
    uint32_t split_at = (uint32_t)(cpu >> SPLIT_SHIFT);
    if (split_at - t->carrier.split_at > MAX_UNMEASURED) {
        t->carrier.split_at = split_at;
        WRITE(c->splits, READ(c->splits) + 1);
        measure_split(t);
        split(t, &t->carrier.times, cpu);
    } else {
        extrapolate(t, cpu);
    }
    increment_sequence(c);
    WRITE(c->carried_cpu, READ(c->carried_cpu) + (int64_t)times->cpu - READ(c->last_cpu));
    WRITE(c->carried_user, READ(c->carried_user) + (int64_t)times->user - READ(c->last_user));
    record_time(c, times);
    return (int64_t)times->cpu - t->carrier.cpu_offset;
}

// Undoes start_carrying: the calling thread turned out not to be a carrier.
void stop_carrying(void) {
    struct thread_clock *t = own_clock();
    struct carrier *c = t->carrier.record;
    t->carrier.record = 0;
    if (!c) return;
    WRITE(c->last_cpu, READ(c->first_cpu));
    WRITE(c->last_user, READ(c->first_user));
    WRITE(c->carried_cpu, 0);
    WRITE(c->carried_user, 0);
    WRITE(c->questions, 0);
    WRITE(c->splits, 0);
    WRITE(c->sequence, 0);
    release_slot(c);
}

// Returns a CPU time for differences: since accounting began if the thread's total is unknown.
static int64_t point(int64_t cpu) { return cpu < 0 ? cpu - PARTIAL_ORIGIN : cpu; }

// Reads the calling virtual thread; returns -1 if it was not mounted through us, and instead of an unknown total.
int64_t virtual_nanos(int32_t value) {
    struct thread_clock *t = own_clock();
    const struct carrier *c = t->carrier.record;
    if (!c || !(READ(c->sequence) & 1)) return -1;
    struct times *times = &t->carrier.times;
    if (value == VIRTUAL_NOW_USER) return (int64_t)times->user - READ(c->user_offset);
    int is_split = value != VIRTUAL_CPU && value != VIRTUAL_POINT;
    if (is_split && !update_split(t)) return -1;
    uint64_t now = carrier_cpu(t, MOUNTED, 1);
    if (now == UNKNOWN) return -1;
    if (is_split) split(t, times, now);
    else extrapolate(t, now);
    // Other threads read the kernel's clock, and must not get less.
    int64_t mount_ahead = t->carrier.cpu_offset - READ(c->cpu_offset);
    if (t->published) WRITE(t->published->carrier_cpu, times->cpu - (uint64_t)mount_ahead);
    int64_t cpu = (int64_t)times->cpu - t->carrier.cpu_offset, user = (int64_t)times->user - READ(c->user_offset);
    if (value == VIRTUAL_NOW_CPU || value == VIRTUAL_POINT) return point(cpu);
    if (cpu < 0) return -1;
    return value == VIRTUAL_USER ? user : value == VIRTUAL_SYSTEM ? cpu - user : cpu;
}

// Copies as many carrier records as fit, including those of past carriers. Returns the number of records.
int32_t carriers(int64_t *into, int32_t capacity) {
    int32_t count = 0;
    // The caller may have read totals that must not be newer than the records.
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (struct carrier *c = 0; (c = next_slot(&process.carriers, sizeof *c, c));) {
        if (!READ(c->tid) && !READ(c->last_cpu)) continue;  // never used
        // The sequence is read before the fields after it, which are valid if it is the same when read again.
        for (int i = 0; count < capacity && i < CARRIER_FIELDS; i++)
            into[count * CARRIER_FIELDS + i] = __atomic_load_n((const int64_t *)c + i, __ATOMIC_ACQUIRE);
        count++;
    }
    return count;
}
