// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The calling thread's cpu. cpu_now() is where it is decided whether the kernel is asked.

#ifndef TASKCLOCK_CPU_H
#define TASKCLOCK_CPU_H

#include "taskclock.h"

#define UNKNOWN UINT64_MAX  // -1 for those who asked

// A base is a moment at which both the counter and the thread's cpu were read. For as long as its marker is there, the
// thread was not switched out, and cpu has grown like the counter.
struct thread_clock {
    // What a reading that asks nobody needs.
    volatile uint64_t *marker;  // null until first asked for
    uint64_t base_counter, base_cpu;
    uint64_t life;  // counts; 0: there is no base
    uint64_t rate;
    uint64_t last_cpu;  // what was answered last
    // What asking needs.
    uint64_t kernel_cpu;   // what the kernel said last
    uint64_t unused_from;  // last_cpu when the base was taken; still the same if no reading used it
    uint32_t unused_bases, asks;
    uint64_t stalled_at;
    uint32_t stalled_readings;
    uint8_t is_asking, is_splitting;
    uint8_t base_is_rough;
    // The last split, and what getrusage said at the last tick.
    uint64_t cpu, user;
    int64_t tick;
    uint64_t measured_user, measured_cpu;
    uint64_t user_share;      // of 2^32
    struct carrier *carrier;  // null as long as no virtual thread was mounted
};

// gnu2 thread-local storage (Makefile) needs no libc function and works in a library that is loaded late.
extern __thread struct thread_clock self __attribute__((visibility("hidden")));

// Found by a call. Left to itself the compiler takes the address for cheap, and finds it anew at each other use.
static inline struct thread_clock *own_clock(void) {
    struct thread_clock *t = &self;
    __asm__("" : "+r"(t));
    return t;
}

// Whoever sees a rung sees what was made ready for it.
static inline int present_rung(void) { return __atomic_load_n(&process.rung, __ATOMIC_ACQUIRE); }

uint64_t ask_kernel(struct thread_clock *t);
uint64_t does_not_grow(struct thread_clock *t, uint64_t cpu);

// UNKNOWN where the kernel does not answer. A signal's handler may read too, at any moment of this: the base is the same
// before and after, or the kernel is asked.
static inline uint64_t cpu_now(struct thread_clock *t) {
    uint64_t life = READ(t->life);
    // Looked at twice. Here, as the counter is dear and a thread that was switched out does not need it.
    if (__builtin_expect(!life || *t->marker != process_marker(), 0)) return ask_kernel(t);
    uint64_t base = READ(t->base_counter), base_cpu = READ(t->base_cpu), rate = READ(t->rate);
    // And here, as the marker tells of the time before it is looked at: if it is there, the counter was read before any switch.
    uint64_t counts = counter() - base;
    if (__builtin_expect(counts >= life || *t->marker != process_marker() || READ(t->base_counter) != base, 0))
        return ask_kernel(t);
    uint64_t cpu = base_cpu + ((counts * rate) >> 32);
    if (__builtin_expect(cpu <= READ(t->last_cpu), 0)) return does_not_grow(t, cpu);
    WRITE(t->last_cpu, cpu);
    return cpu;
}

#endif
