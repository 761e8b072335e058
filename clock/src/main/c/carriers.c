// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Virtual threads: what the thread that carries them used between a mount and an unmount is theirs. The agent calls.

#include "split.h"

// A carrier that unmounts need not look for ticks: the split is that of at most so much time before.
static const uint64_t MOST_UNMEASURED = 1000000;  // ns

static void start_carrying(struct thread_clock *t) {
    struct carrier *c = claim_slot(&process.carriers, sizeof *c, own_tid());
    if (!c) return;
    if (!read_clock(t)) return leave_slot(c);
    if (!READ(c->index)) WRITE(c->index, __atomic_add_fetch(&process.carrier_count, 1, __ATOMIC_RELAXED));
    // What the thread before left is what it carried, and all that it used.
    WRITE(c->first_cpu, (int64_t)t->cpu - (READ(c->last_cpu) - READ(c->first_cpu)));
    WRITE(c->first_user, (int64_t)t->user - (READ(c->last_user) - READ(c->first_user)));
    WRITE(c->last_cpu, (int64_t)t->cpu);
    WRITE(c->last_user, (int64_t)t->user);
    t->carrier = c;
}

// The carrier's own time, which was so much, begins anew.
void carrier_restarted(struct carrier *c, int64_t cpu, int64_t user) {
    WRITE(c->first_cpu, READ(c->first_cpu) - cpu);
    WRITE(c->first_user, READ(c->first_user) - user);
    WRITE(c->last_cpu, READ(c->last_cpu) - cpu);
    WRITE(c->last_user, READ(c->last_user) - user);
    WRITE(c->cpu_offset, READ(c->cpu_offset) - cpu);
    WRITE(c->user_offset, READ(c->user_offset) - user);
}

static void stamp(struct carrier *c, const struct thread_clock *t) {
    WRITE(c->last_cpu, (int64_t)t->cpu);
    WRITE(c->last_user, (int64_t)t->user);
}

static void turn(struct carrier *c) { __atomic_store_n(&c->turn, READ(c->turn) + 1, __ATOMIC_RELEASE); }

// As split, but without steering to what was measured, which each unmount after that does: twice as quick.
static void advance(struct thread_clock *t, uint64_t cpu) {
    uint64_t grown = cpu - t->cpu;
    if (grown >> 32) return split(t, cpu);
    t->cpu = cpu;
    t->user += (grown * t->user_share) >> 32;
}

// Where the kernel does not answer any more, time stands.
static uint64_t cpu_or_last(struct thread_clock *t) {
    uint64_t cpu = cpu_now(t);
    return cpu == UNKNOWN ? t->cpu : cpu;
}

// A virtual thread that has used so much goes on on this carrier. Returns the carrier, 0 if there is no memory for it.
int64_t mount(int64_t cpu, int64_t user) {
    struct thread_clock *t = own_clock();
    if (!t->carrier) start_carrying(t);
    struct carrier *c = t->carrier;
    if (!c) return 0;
    advance(t, cpu_or_last(t));
    if (READ(c->turn) & 1) turn(c);  // the last unmount failed: what came since is the carrier's own
    WRITE(c->cpu_offset, (int64_t)t->cpu - cpu);
    WRITE(c->user_offset, (int64_t)t->user - user);
    stamp(c, t);
    turn(c);
    return (int64_t)c;
}

// It stops for now. Returns what it has used; the carrier's field user has the user part.
int64_t unmount(void) {
    struct thread_clock *t = own_clock();
    struct carrier *c = t->carrier;
    uint64_t cpu = cpu_or_last(t);
    if (cpu - t->measured_cpu > MOST_UNMEASURED) {
        measure(t);
        split(t, cpu);
    } else {
        advance(t, cpu);
    }
    turn(c);
    WRITE(c->carried_cpu, READ(c->carried_cpu) + (int64_t)t->cpu - READ(c->last_cpu));
    WRITE(c->carried_user, READ(c->carried_user) + (int64_t)t->user - READ(c->last_user));
    stamp(c, t);
    WRITE(c->user, (int64_t)t->user - READ(c->user_offset));
    return (int64_t)t->cpu - READ(c->cpu_offset);
}

// The calling thread is no carrier after all.
void stop_carrying(void) {
    struct thread_clock *t = own_clock();
    struct carrier *c = t->carrier;
    t->carrier = 0;
    if (!c) return;
    WRITE(c->last_cpu, READ(c->first_cpu));
    WRITE(c->last_user, READ(c->first_user));
    WRITE(c->carried_cpu, 0);
    WRITE(c->carried_user, 0);
    WRITE(c->turn, 0);
    leave_slot(c);
}

// Of the virtual thread that calls; -1 if nobody mounted it through us.
int64_t virtual_nanos(int32_t what) {
    struct thread_clock *t = own_clock();
    const struct carrier *c = t->carrier;
    if (!c || !(READ(c->turn) & 1)) return -1;
    if (what == VIRTUAL_LAST_USER) return (int64_t)t->user - READ(c->user_offset);
    if (what == VIRTUAL_CPU) {
        uint64_t now = cpu_now(t);
        return now == UNKNOWN ? -1 : (int64_t)now - READ(c->cpu_offset);
    }
    if (!read_clock(t)) return -1;
    int64_t cpu = (int64_t)t->cpu - READ(c->cpu_offset), user = (int64_t)t->user - READ(c->user_offset);
    return what == VIRTUAL_USER ? user : what == VIRTUAL_SYSTEM ? cpu - user : cpu;
}

// Copies the records of all that ever carried, as many as fit; returns how many there are.
int32_t carriers(int64_t *into, int32_t capacity) {
    int32_t count = 0;
    for (struct carrier *c = 0; (c = next_slot(&process.carriers, sizeof *c, c));) {
        if (!READ(c->tid) && !READ(c->last_cpu)) continue;  // nobody's yet
        for (int i = 0; count < capacity && i < CARRIER_FIELDS; i++)
            into[count * CARRIER_FIELDS + i] = READ(((const int64_t *)c)[i]);
        count++;
    }
    return count;
}
