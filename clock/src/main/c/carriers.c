// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Virtual threads: the CPU time that a carrier uses between a mount and an unmount belongs to the mounted thread. The
// agent calls these functions.

#include "split.h"

// An unmount measures the split again only if the carrier has used more CPU time than this since the last measurement.
static const uint64_t MAX_UNMEASURED = 1000000;  // ns

static void start_carrying(struct thread_clock *t) {
    struct carrier *c = claim_slot(&process.carriers, sizeof *c, own_tid());
    if (!c) return;
    if (!read_clock(t)) return release_slot(c);
    if (!READ(c->index)) WRITE(c->index, __atomic_add_fetch(&process.carrier_count, 1, __ATOMIC_RELAXED));
    // The record already contains the time that its previous threads used and carried. The differences must include it.
    WRITE(c->first_cpu, (int64_t)t->cpu - (READ(c->last_cpu) - READ(c->first_cpu)));
    WRITE(c->first_user, (int64_t)t->user - (READ(c->last_user) - READ(c->first_user)));
    WRITE(c->last_cpu, (int64_t)t->cpu);
    WRITE(c->last_user, (int64_t)t->user);
    t->carrier = c;
}

static void record_time(struct carrier *c, const struct thread_clock *t) {
    WRITE(c->last_cpu, (int64_t)t->cpu);
    WRITE(c->last_user, (int64_t)t->user);
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
    uint64_t elapsed = cpu - t->cpu;
    if (elapsed >> 32) return split(t, cpu);
    t->cpu = cpu;
    t->user += (elapsed * t->user_share) >> 32;
}

// Returns the CPU time. If the kernel refuses, time does not advance.
static uint64_t cpu_or_last(struct thread_clock *t) {
    uint64_t cpu = cpu_now(t);
    return cpu == UNKNOWN ? t->cpu : cpu;
}

// Mounts a virtual thread that has used this much CPU (from PARTIAL_ORIGIN on if it is partial) and user time so far.
// Returns the address of the carrier's record; 0 if out of memory.
int64_t mount(int64_t cpu, int64_t user) {
    struct thread_clock *t = own_clock();
    if (!t->carrier) start_carrying(t);
    struct carrier *c = t->carrier;
    if (!c) return 0;
    extrapolate(t, cpu_or_last(t));
    // The last unmount failed, so the time since the last mount counts as the carrier's own.
    if (READ(c->sequence) & 1) increment_sequence(c);
    WRITE(c->cpu_offset, (int64_t)t->cpu - cpu);
    WRITE(c->user_offset, (int64_t)t->user - user);
    record_time(c, t);
    increment_sequence(c);
    return (int64_t)c;
}

// Unmounts the virtual thread. Returns its CPU time; its user time is in the record's field `user`.
int64_t unmount(void) {
    struct thread_clock *t = own_clock();
    struct carrier *c = t->carrier;
    uint64_t cpu = cpu_or_last(t);
    if (cpu - t->measured_cpu > MAX_UNMEASURED) {
        measure_split(t);
        split(t, cpu);
    } else {
        extrapolate(t, cpu);
    }
    increment_sequence(c);
    WRITE(c->carried_cpu, READ(c->carried_cpu) + (int64_t)t->cpu - READ(c->last_cpu));
    WRITE(c->carried_user, READ(c->carried_user) + (int64_t)t->user - READ(c->last_user));
    record_time(c, t);
    WRITE(c->user, (int64_t)t->user - READ(c->user_offset));
    return (int64_t)t->cpu - READ(c->cpu_offset);
}

// Undoes start_carrying: the calling thread turned out not to be a carrier.
void stop_carrying(void) {
    struct thread_clock *t = own_clock();
    struct carrier *c = t->carrier;
    t->carrier = 0;
    if (!c) return;
    WRITE(c->last_cpu, READ(c->first_cpu));
    WRITE(c->last_user, READ(c->first_user));
    WRITE(c->carried_cpu, 0);
    WRITE(c->carried_user, 0);
    WRITE(c->sequence, 0);
    release_slot(c);
}

// Returns a CPU time for differences: since accounting began if the thread's total is unknown.
static int64_t point(int64_t cpu) { return cpu < 0 ? cpu - PARTIAL_ORIGIN : cpu; }

// Reads the calling virtual thread; returns -1 if it was not mounted through us, and instead of an unknown total.
int64_t virtual_nanos(int32_t value) {
    struct thread_clock *t = own_clock();
    const struct carrier *c = t->carrier;
    if (!c || !(READ(c->sequence) & 1)) return -1;
    if (value == VIRTUAL_NOW_USER) return (int64_t)t->user - READ(c->user_offset);
    if (value == VIRTUAL_CPU || value == VIRTUAL_POINT) {
        uint64_t now = cpu_now(t);
        if (now == UNKNOWN) return -1;
        int64_t cpu = (int64_t)now - READ(c->cpu_offset);
        return value == VIRTUAL_POINT ? point(cpu) : cpu < 0 ? -1 : cpu;
    }
    if (!read_clock(t)) return -1;
    int64_t cpu = (int64_t)t->cpu - READ(c->cpu_offset), user = (int64_t)t->user - READ(c->user_offset);
    if (value == VIRTUAL_NOW_CPU) return point(cpu);
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
