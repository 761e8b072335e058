// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// User and system time. They add up to the CPU time, and their split follows that of getrusage, which changes at ticks.

#include "split.h"

static int precise;

// With nohz_full= the kernel measures user and system time at each entry and exit, so getrusage also changes between
// ticks.
void split_init(void) {
    char text[256];
    long length = read_file("/sys/devices/system/cpu/nohz_full", text, sizeof text);
    precise = 0;
    for (long i = 0; i < length; i++)
        if (text[i] >= '0' && text[i] <= '9') precise = 1;
}

int user_time_is_precise(void) { return precise; }

// Returns part / whole in units of 2^-32. The shifts keep the numerator within 64 bits.
static uint64_t ratio(uint64_t part, uint64_t whole) {
    while (whole >> 31) {
        whole >>= 1;
        part >>= 1;
    }
    return whole ? (part << 32) / whole : 1ull << 32;
}

// Returns 0 if the kernel refuses.
int measure_split(struct thread_clock *t) {
    int64_t user, system;
    // getrusage scales to a total that is updated by ticks and by reading the clock. With nohz_full there may be no
    // ticks.
    if (precise) clock_nanos(OWN_SCHED);
    if (rusage_of_thread(&user, &system) != 0) return 0;
    t->measured_user = (uint64_t)user;
    t->measured_cpu = (uint64_t)(user + system);
    t->user_share = ratio(t->measured_user, t->measured_cpu);
    return 1;
}

// Splits the time since the tick of the last getrusage call in the proportion that it returned, as the kernel's
// cputime_adjust would. The previous reading is corrected toward that split, but neither part gets more than the total
// increase. So nothing goes backwards, and no error lasts beyond the next tick.
void split(const struct thread_clock *t, struct times *times, uint64_t cpu) {
    uint64_t last = READ(times->cpu);
    if (cpu < last) return;
    uint64_t elapsed = cpu - last;
    uint64_t since = cpu > t->measured_cpu ? cpu - t->measured_cpu : 0;
    uint64_t user = t->measured_user + (uint64_t)(((unsigned __int128)since * t->user_share) >> 32);
    uint64_t last_user = READ(times->user);
    if (user < last_user) user = last_user;
    if (user > last_user + elapsed) user = last_user + elapsed;
    WRITE(times->cpu, cpu);
    WRITE(times->user, user);
}

// Measures the split unless it is known as of the last tick. Returns 0 if the kernel refuses.
int update_split(struct thread_clock *t) {
    int64_t tick = coarse_nanos();
    if (tick == t->tick && !precise) return 1;
    if (!measure_split(t)) return 0;
    t->tick = tick;
    return 1;
}

// Takes one consistent reading. Returns 0 if the kernel refuses.
int read_clock(struct thread_clock *t) {
    if (!update_split(t)) return 0;
    uint64_t cpu = cpu_now(t);
    if (cpu == UNKNOWN) return 0;
    split(t, &t->times, cpu);
    return 1;
}

// An assignment would call memcpy, which needs a libc; volatile keeps the compiler from calling it.
static void copy_clock(struct thread_clock *to, const struct thread_clock *from) {
    typedef uint64_t __attribute__((may_alias)) word;
    for (unsigned i = 0; i < sizeof *to / sizeof(word); i++) ((volatile word *)to)[i] = ((const word *)from)[i];
}

// Returns the thread's clock, or a copy of it in a signal handler that has interrupted a reading. The handler applies
// the same rules to the copy and leaves the interrupted reading unchanged.
static struct thread_clock *own_clock_or_copy(struct thread_clock *copy) {
    struct thread_clock *t = own_clock();
    if (!t->is_splitting) return t;
    copy_clock(copy, t);
    copy->tick = 0;
    copy->life = 0;
    copy->is_asking = 1;  // takes no base
    return copy;
}

enum part { CPU, USER, SYSTEM };

static int64_t read_part(enum part part) {
    struct thread_clock copy, *t = own_clock_or_copy(&copy);
    t->is_splitting = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    int known = read_clock(t);
    uint64_t cpu = t->times.cpu, user = t->times.user;
    int64_t value = !known ? -1 : (int64_t)(part == CPU ? cpu : part == USER ? user : cpu - user);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->is_splitting = 0;
    return value;
}

int64_t user_nanos(void) { return read_part(USER); }

int64_t system_nanos(void) { return read_part(SYSTEM); }

// Two calls for one reading: the first takes it, the second returns its user part.
int64_t now_cpu_nanos(void) { return read_part(CPU); }

int64_t now_user_nanos(void) { return (int64_t)self.times.user; }
