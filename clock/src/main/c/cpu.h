// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Reads the calling thread's CPU time. cpu_now() decides whether to ask the kernel.

#ifndef TASKCLOCK_CPU_H
#define TASKCLOCK_CPU_H

#include "taskclock.h"

#define UNKNOWN UINT64_MAX  // -1 to callers

// What a thread last read of itself, for readers on other threads; see readings.c.
struct published_cpu {
    uint64_t kernel_cpu;  // the kernel's clock when the base was taken
    uint64_t cpu;         // the last value returned
    uint64_t carrier_cpu;  // the last value returned to a virtual thread on this carrier
};

// CPU time, and the user part of it.
struct times {
    uint64_t cpu, user;
};

// The time of a thread that carries virtual threads; see carriers.c.
struct carrier_clock {
    // On one cache line: what mounts and unmounts use.
    struct carrier *record;  // null until a virtual thread is mounted
    struct times times;
    int64_t cpu_offset;      // `times.cpu` minus the CPU time of the mounted thread
    uint64_t counter;        // when `times` was determined
    uint64_t asked_counter;  // when the kernel was asked last
    int64_t ahead;           // by how much `times.cpu` is ahead of the kernel's clock, as far as known
    uint32_t split_at;       // the CPU time at which the split was measured last, in units of 2^SPLIT_SHIFT ns
    uint8_t was_switched;    // a marker was set again after a switch
    uint8_t has_estimates;   // since the kernel was asked
    // On another one: the CPU time of an interrupted stretch, by enum stretch, and when one was measured last.
    int64_t mean[2];
    uint64_t sampled_counter[2];
};

// A base is a point in time at which both the counter and the thread's CPU time were read. While its marker is in
// place, the thread has not been switched out, and its CPU time has advanced with the counter.
struct thread_clock {
    // On one cache line: what readings use that do not ask the kernel.
    volatile uint64_t *marker;  // null until a base is first needed
    uint64_t base_counter, base_cpu;
    uint64_t life;  // in counts; 0 if there is no base
    uint64_t rate;
    uint64_t last_cpu;                // the last value returned
    struct published_cpu *published;  // null until a base is first needed
    uint64_t user_share;              // in units of 2^-32
    struct carrier_clock carrier;
    // Used by readings that ask the kernel.
    uint64_t kernel_cpu;   // the last value from the kernel
    uint64_t cpu_at_base;  // last_cpu when the base was taken; unchanged if no reading used the base
    uint32_t unused_bases, kernel_reads;
    uint64_t stalled_cpu;
    uint32_t stalled_readings;
    uint8_t is_asking, is_splitting;
    uint8_t base_is_rough;
    // The last reading, and the result of getrusage at the last tick.
    struct times times;
    int64_t tick;
    uint64_t measured_user, measured_cpu;
    struct published_cpu unpublished;
    struct wait_file *wait_file;  // null until it is needed
} __attribute__((aligned(64)));

// gnu2 thread-local storage (see Makefile) needs no libc function and works in a library loaded with dlopen.
extern __thread struct thread_clock self __attribute__((visibility("hidden")));

// Computing the address takes a call. The barrier keeps the compiler from repeating the call at each use.
static inline struct thread_clock *own_clock(void) {
    struct thread_clock *t = &self;
    __asm__("" : "+r"(t));
    return t;
}

// A thread that sees a backend also sees the state prepared for it.
static inline int current_backend(void) { return __atomic_load_n(&process.backend, __ATOMIC_ACQUIRE); }

uint64_t ask_kernel(struct thread_clock *t);
int set_own_marker(struct thread_clock *t);
void clear_own_marker(struct thread_clock *t);
uint64_t handle_stall(struct thread_clock *t, uint64_t cpu);

// Returns UNKNOWN if the kernel refuses. A signal handler may take a reading at any point in this function: either the
// base is the same before and after, or the kernel is asked.
static inline uint64_t cpu_now(struct thread_clock *t) {
    uint64_t life = READ(t->life);
    // The marker is checked twice. Here, a check avoids reading the counter, which is expensive, after a switch. After
    // the counter is read, only a marker that is still intact proves that there was no switch before.
    if (__builtin_expect(!life || *t->marker != process_marker(), 0)) return ask_kernel(t);
    uint64_t base = READ(t->base_counter), base_cpu = READ(t->base_cpu), rate = READ(t->rate);
    uint64_t counts = counter() - base;
    if (__builtin_expect(counts >= life || *t->marker != process_marker() || READ(t->base_counter) != base, 0))
        return ask_kernel(t);
    uint64_t cpu = base_cpu + ((counts * rate) >> 32);
    if (__builtin_expect(cpu <= READ(t->last_cpu), 0)) return handle_stall(t, cpu);
    WRITE(t->last_cpu, cpu);
    WRITE(t->published->cpu, cpu);
    return cpu;
}

// ---- readings.c

void start_publishing(struct thread_clock *t);
// Reads any CPU clock. That of a thread is never smaller than what the thread last read of itself.
int64_t thread_nanos(int32_t id);

#endif
