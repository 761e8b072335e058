// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// User and system, so that they add up to cpu and the split is getrusage's, which changes at ticks.

#include "split.h"

static int precise;

// With nohz_full= the kernel measures user and system time at each entry and exit; getrusage then moves between ticks.
void split_init(void) {
    char text[256];
    long length = read_file("/sys/devices/system/cpu/nohz_full", text, sizeof text);
    precise = 0;
    for (long i = 0; i < length; i++)
        if (text[i] >= '0' && text[i] <= '9') precise = 1;
}

int user_time_is_precise(void) { return precise; }

// part / whole in units of 2^-32; the shift keeps the numerator inside 64 bits.
static uint64_t share(uint64_t part, uint64_t whole) {
    while (whole >> 31) {
        whole >>= 1;
        part >>= 1;
    }
    return whole ? (part << 32) / whole : 1ull << 32;
}

// 0 where the kernel does not answer.
int measure(struct thread_clock *t) {
    int64_t user, system;
    // It scales to a total that ticks keep up to date, or who asks for it; with nohz_full there may be no tick.
    if (precise) clock_nanos(OWN_SCHED);
    if (rusage_of_thread(&user, &system) != 0) return 0;
    t->measured_user = (uint64_t)user;
    t->measured_cpu = (uint64_t)(user + system);
    t->user_share = share(t->measured_user, t->measured_cpu);
    return 1;
}

// What came since getrusage's tick is split in its own proportion (as the kernel's cputime_adjust would), and the sum is
// steered there: neither part gets more than the whole grew by, so nothing goes backwards and no error outlives the tick
// after it.
void split(struct thread_clock *t, uint64_t cpu) {
    uint64_t last = READ(t->cpu);
    if (cpu < last) return;
    uint64_t grown = cpu - last;
    uint64_t since = cpu > t->measured_cpu ? cpu - t->measured_cpu : 0;
    uint64_t user = t->measured_user + (uint64_t)(((unsigned __int128)since * t->user_share) >> 32);
    uint64_t last_user = READ(t->user);
    if (user < last_user) user = last_user;
    if (user > last_user + grown) user = last_user + grown;
    WRITE(t->cpu, cpu);
    WRITE(t->user, user);
}

// One consistent reading: the split is as old as the last tick. 0 where the kernel does not answer.
int read_clock(struct thread_clock *t) {
    int64_t tick = coarse_nanos();
    if (tick != t->tick || precise) {
        if (!measure(t)) return 0;
        t->tick = tick;
    }
    uint64_t cpu = cpu_now(t);
    if (cpu == UNKNOWN) return 0;
    split(t, cpu);
    return 1;
}

// What a signal's handler is told that interrupted a reading: the same rules on a copy, so that the reading goes on as if
// nothing had been.
static struct thread_clock *own_clock_or(struct thread_clock *copy) {
    struct thread_clock *t = own_clock();
    if (!t->is_splitting) return t;
    *copy = *t;
    copy->tick = 0;
    copy->life = 0;
    copy->is_asking = 1;  // takes no base
    return copy;
}

enum part { CPU, USER, SYSTEM };

static int64_t read_part(enum part part) {
    struct thread_clock copy, *t = own_clock_or(&copy);
    t->is_splitting = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    int known = read_clock(t);
    int64_t value = !known ? -1 : (int64_t)(part == CPU ? t->cpu : part == USER ? t->user : t->cpu - t->user);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->is_splitting = 0;
    return value;
}

int64_t user_nanos(void) { return read_part(USER); }

int64_t system_nanos(void) { return read_part(SYSTEM); }

// Two calls give one reading: the first takes it, the second returns its user part.
int64_t now_cpu_nanos(void) { return read_part(CPU); }

int64_t now_user_nanos(void) { return (int64_t)self.user; }
