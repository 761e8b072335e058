// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The calling thread's clock: cpu by one system call, user and system so that they add up to it.

#include "taskclock.h"

#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/time_types.h>

// What linux/resource.h declares, less the fields that nobody here reads.
enum { THREAD_ONLY = 1 };  // RUSAGE_THREAD
struct usage {
    int64_t user_seconds, user_micros, system_seconds, system_micros, others[12], gave_way, was_preempted;
};

// What the last reading on this thread said, and what getrusage said at the last tick.
struct thread_clock {
    volatile uint64_t *marker;  // null until first asked for
    uint64_t base_counter, base_cpu, last_cpu;
    int base_is_rough;
    uint64_t cpu, user;
    int64_t tick;
    uint64_t measured_user, measured_cpu;
    uint64_t user_share;  // of 2^32
    struct carrier *carrier;  // null as long as no virtual thread was mounted
};

// gnu2 thread-local storage (Makefile) needs no libc function and works in a library that is loaded late.
static __thread struct thread_clock self;

// Found by a call. Left to itself the compiler takes the address for cheap, and finds it anew at each other use.
static inline struct thread_clock *own_clock(void) {
    struct thread_clock *t = &self;
    __asm__("" : "+r"(t));
    return t;
}

static int precise;

static int64_t clockNanos(int32_t id) {
    struct __kernel_timespec t;
    if (SYSCALL(__NR_clock_gettime, id, &t) != 0) return -1;
    return t.tv_sec * NANOS_PER_SECOND + t.tv_nsec;
}

int64_t clock_resolution(int32_t id) {
    struct __kernel_timespec t;
    if (SYSCALL(__NR_clock_getres, id, &t) != 0) return -1;
    return t.tv_sec * NANOS_PER_SECOND + t.tv_nsec;
}

long rusage_of_thread(int64_t *user, int64_t *system) {
    struct usage u;
    long result = SYSCALL(__NR_getrusage, THREAD_ONLY, &u);
    if (result != 0) return result;
    *user = u.user_seconds * NANOS_PER_SECOND + u.user_micros * 1000;
    *system = u.system_seconds * NANOS_PER_SECOND + u.system_micros * 1000;
    return 0;
}

int64_t switches_of_thread(void) {
    struct usage u;
    return SYSCALL(__NR_getrusage, THREAD_ONLY, &u) == 0 ? u.gave_way + u.was_preempted : -1;
}

long read_file(const char *path, char *text, long length) {
    long fd = SYSCALL(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    long got = SYSCALL(__NR_read, fd, text, length);
    SYSCALL(__NR_close, fd);
    return got > 0 ? got : 0;
}

// With nohz_full= the kernel measures user and system time at each entry and exit; getrusage then moves between ticks.
static int file_names_a_cpu(const char *path) {
    char text[256];
    long length = read_file(path, text, sizeof text);
    for (long i = 0; i < length; i++)
        if (text[i] >= '0' && text[i] <= '9') return 1;
    return 0;
}

int clock_is_precise(void) { return precise; }

int clock_probe(void) {
    struct __kernel_timespec t;
    int64_t user, system;
    long result = SYSCALL(__NR_clock_gettime, OWN_SCHED, &t);
    return (int)-(result != 0 ? result : rusage_of_thread(&user, &system));
}

// part / whole in units of 2^-32; the shift keeps the numerator inside 64 bits.
static uint64_t share(uint64_t part, uint64_t whole) {
    while (whole >> 31) {
        whole >>= 1;
        part >>= 1;
    }
    return whole ? (part << 32) / whole : 1ull << 32;
}

static void measure(struct thread_clock *t) {
    int64_t user, system;
    // It scales to a total that ticks keep up to date, or who asks for it; with nohz_full there may be no tick.
    if (precise) clockNanos(OWN_SCHED);
    if (rusage_of_thread(&user, &system) != 0) return;
    t->measured_user = (uint64_t)user;
    t->measured_cpu = (uint64_t)(user + system);
    t->user_share = share(t->measured_user, t->measured_cpu);
}

// ---- the counter's rate

// A moment in both times. Taken again if something came between the reads.
struct moment {
    uint64_t counter;
    int64_t raw;
};

enum { CALIBRATION_TRIES = 4 };
static const int64_t FIRST_CALIBRATION = 10000000;  // ns: over 10 ms, 100 ns of error are 10 ns in a base's lifetime
static const uint64_t FIRST_LIFETIME = 20000;        // ns
static const uint64_t LEAST_LIFETIME = 8000;
static const uint64_t MOST_LIFETIME = 1000000;

enum { RATE_GRAIN = 1024 };  // one part in so many is more than a rate is ever off

static int calibrating;           // whoever has set it may use the origin
static struct moment origin;
static int64_t next_calibration;  // as raw clock
static int64_t calibrated_over;   // ns
static uint64_t nanos_per_count;  // of 2^32; 0 until it is known
static uint64_t base_counts;      // how many counts a base may be used for

static struct moment moment_now(void) {
    struct moment best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < CALIBRATION_TRIES; i++) {
        uint64_t before = counter();
        int64_t raw = raw_clock_nanos();
        uint64_t took = counter() - before;
        if (took < least) {
            least = took;
            best = (struct moment){before + took / 2, raw};
        }
    }
    return best;
}

// Compares the counter with CLOCK_MONOTONIC_RAW, which runs at the scheduler's rate, over ever longer times. Whoever comes
// by does it; nobody waits for it.
static void calibrate(void) {
    if (raw_clock_nanos() < READ(next_calibration)) return;
    if (__atomic_exchange_n(&calibrating, 1, __ATOMIC_ACQUIRE)) return;
    struct moment now = moment_now();
    int64_t over = now.raw - origin.raw, again = over;
    uint64_t nanos = (uint64_t)over, counts = now.counter - origin.counter;
    while (nanos >> 31) nanos >>= 1, counts >>= 1;
    uint64_t rate = counts ? (nanos << 32) / counts : 0, known = READ(nanos_per_count);
    uint64_t apart = rate > known ? rate - known : known - rate;
    if (!rate || (known && apart > known / RATE_GRAIN)) {
        // One of the two stood or was set: the machine slept, or was moved. From here on, then.
        origin = now;
        rate = 0, over = 0, again = FIRST_CALIBRATION;
    } else if (!known) {
        WRITE(base_counts, (FIRST_LIFETIME << 32) / rate);
    }
    WRITE(calibrated_over, over);
    WRITE(nanos_per_count, rate);
    WRITE(next_calibration, now.raw + again);
    __atomic_store_n(&calibrating, 0, __ATOMIC_RELEASE);
}

static uint64_t nanos_of(uint64_t counts) {
    return (uint64_t)(((unsigned __int128)counts * READ(nanos_per_count)) >> 32);
}

static void calibration(struct calibration *into) {
    calibrate();
    uint64_t rate = READ(nanos_per_count);
    *into = (struct calibration){-1, -1, -1};
    if (!rate) return;
    into->counter_hertz = (int64_t)(((uint64_t)NANOS_PER_SECOND << 32) / rate);
    into->over_nanos = READ(calibrated_over);
    into->base_nanos = (int64_t)nanos_of(READ(base_counts));
}

// Once: a copy of the library stays mapped, and may be loaded again while others use its functions. Callers take turns.
void clock_init(void) {
    if (origin.raw) return;
    vdso_init();
    precise = file_names_a_cpu("/sys/devices/system/cpu/nohz_full");
    origin = moment_now();
    next_calibration = origin.raw + FIRST_CALIBRATION;
}

// ---- cpu

static int rung = RUNG_SYSCALL;

// Whoever sees a rung sees what was made ready for it.
static inline int present_rung(void) { return __atomic_load_n(&rung, __ATOMIC_ACQUIRE); }

// Where the marker of a thread goes that has no area. It is never set, so each read asks the kernel.
static volatile uint64_t no_marker;

// A processor that its host takes away, and where the kernel accounts for them interrupts, let the counter run on while the
// thread's clock stands, and no marker tells. A base that turns out to have been ahead shows how often that happens; bases
// then live so short a time that less than one reading in 10,000 falls between such an event and the next base.
enum { GOOD_BASES = 20000 };
static const uint64_t TOO_FAR_AHEAD = 1000;  // ns
static uint32_t good_bases;

static void judge_base(uint64_t expected, uint64_t found) {
    uint64_t counts = READ(base_counts);
    if (expected > found + TOO_FAR_AHEAD) {
        WRITE(good_bases, 0);
        if (nanos_of(counts / 2) >= LEAST_LIFETIME) WRITE(base_counts, counts / 2);
    } else if (__atomic_add_fetch(&good_bases, 1, __ATOMIC_RELAXED) >= GOOD_BASES) {
        WRITE(good_bases, 0);
        if (nanos_of(counts) < MOST_LIFETIME) WRITE(base_counts, counts * 2);
    }
}

enum { BASE_TRIES = 3 };
// Where in between the two counter reads the kernel read its clock is not known: a base is off by half of that at most.
static const uint64_t MOST_APART = 1500;  // ns
// Counts between the two at best. What takes twice as long was disturbed, which only matters beyond MOST_APART: where the
// caches are cold nothing is quick. Where nothing is as quick any more, as on a processor that was slowed down, it is
// forgotten bit by bit.
static uint64_t quickest = UINT64_MAX;

// Before the first base: what disturbs that would otherwise pass for what a system call takes.
static void time_kernel(void) {
    enum { TIMES = 16 };
    for (int i = 0; i < TIMES; i++) {
        uint64_t before = counter();
        clockNanos(OWN_SCHED);
        uint64_t took = counter() - before;
        if (took < READ(quickest)) WRITE(quickest, took);
    }
}

static uint64_t never_less(struct thread_clock *t, uint64_t cpu) {
    // Restored from a checkpoint, a thread's clock starts anew.
    if (cpu < t->last_cpu && t->last_cpu - cpu > NANOS_PER_SECOND) t->last_cpu = t->cpu = t->user = 0;
    if (cpu < t->last_cpu) return t->last_cpu;
    return t->last_cpu = cpu;
}

// Takes a new base: the marker first, so that a switch at any moment after is seen.
static __attribute__((noinline)) uint64_t ask_kernel(struct thread_clock *t) {
    if (!t->marker) {
        volatile uint64_t *place = rseq_marker_place(present_rung());
        t->marker = place ? place : &no_marker;
    }
    calibrate();
    if (t->marker == &no_marker || !READ(nanos_per_count)) return never_less(t, (uint64_t)clockNanos(OWN_SCHED));
    uint64_t marker = READ(rseq_marker);
    int expired = *t->marker == marker;
    struct thread_clock old = *t;
    for (int i = 0; i < BASE_TRIES; i++) {
        *t->marker = marker;
        uint64_t before = counter();
        uint64_t cpu = (uint64_t)clockNanos(OWN_SCHED);
        uint64_t took = counter() - before;
        t->base_counter = before + took / 2;
        t->base_cpu = cpu;
        uint64_t age = nanos_of(t->base_counter - old.base_counter);
        uint64_t least = READ(quickest);
        if (took < least) WRITE(quickest, least = took);
        t->base_is_rough = took > 2 * least;
        if (t->base_is_rough && nanos_of(took) > MOST_APART) continue;
        // What came long after the old base had expired does not count against it, nor what may be due to a rough base.
        if (expired && i == 0 && age < 2 * nanos_of(READ(base_counts)) && *t->marker == marker && !old.base_is_rough &&
            !t->base_is_rough)
            judge_base(old.base_cpu + age, cpu);
        return never_less(t, cpu + nanos_of(took / 2));
    }
    WRITE(quickest, READ(quickest) + READ(quickest) / 4);
    *t->marker = 0;
    return never_less(t, t->base_cpu);
}

static inline uint64_t cpu_now(struct thread_clock *t) {
    if (present_rung() == RUNG_SYSCALL) return never_less(t, (uint64_t)clockNanos(OWN_SCHED));
    // The counter before the marker: if the marker is there, the counter was read before any switch.
    uint64_t counts = counter() - t->base_counter;
    if (t->marker && *t->marker == READ(rseq_marker) && counts < READ(base_counts))
        return never_less(t, t->base_cpu + ((counts * READ(nanos_per_count)) >> 32));
    return ask_kernel(t);
}

// ---- user and system

// What came since getrusage's tick is split in its own proportion (as the kernel's cputime_adjust would), and the sum is
// steered there: neither part gets more than the whole grew by, so nothing goes backwards and no error outlives the tick
// after it.
static void split(struct thread_clock *t, uint64_t cpu) {
    if (cpu < t->cpu) t->cpu = t->user = 0;  // restored from a checkpoint: the kernel counts anew
    uint64_t grown = cpu - t->cpu;
    uint64_t since = cpu > t->measured_cpu ? cpu - t->measured_cpu : 0;
    uint64_t user = t->measured_user + (uint64_t)(((unsigned __int128)since * t->user_share) >> 32);
    if (user < t->user) user = t->user;
    if (user > t->user + grown) user = t->user + grown;
    t->cpu = cpu;
    t->user = user;
}

// One consistent reading: the split is as old as the last tick.
static void read_clock(struct thread_clock *t) {
    int64_t tick = coarse_nanos();
    if (tick != t->tick || precise) {
        measure(t);
        t->tick = tick;
    }
    split(t, cpu_now(t));
}

static int64_t cpuNanos(void) { return (int64_t)cpu_now(own_clock()); }

static int64_t userNanos(void) {
    struct thread_clock *t = own_clock();
    read_clock(t);
    return (int64_t)t->user;
}

static int64_t systemNanos(void) {
    struct thread_clock *t = own_clock();
    read_clock(t);
    return (int64_t)(t->cpu - t->user);
}

// Two calls give one reading: the first takes it, the second tells its user part.
static int64_t nowCpuNanos(void) {
    struct thread_clock *t = own_clock();
    read_clock(t);
    return (int64_t)t->cpu;
}

static int64_t nowUserNanos(void) { return (int64_t)self.user; }

// Tries a rung on this thread, and changes to it if it is usable.
static int32_t selectRung(int32_t wanted) {
    if (wanted == present_rung()) return PROBE_USABLE;
    if (wanted == RUNG_SYSCALL) {
        WRITE(rung, wanted);
        return PROBE_USABLE;
    }
    int32_t refusal = rseq_prepare(wanted);
    if (refusal) return refusal;
    struct thread_clock *t = own_clock();
    if (!t->marker || t->marker == &no_marker) t->marker = rseq_marker_place(wanted);
    if (!t->marker) return PROBE_NOT_REGISTERED;
    int kept = rseq_kept_markers(t->marker);
    if (kept != 0) return kept < 0 ? PROBE_CANNOT_PIN : PROBE_MARKER_KEPT;
    time_kernel();
    __atomic_store_n(&rung, wanted, __ATOMIC_RELEASE);
    return PROBE_USABLE;
}

// ---- virtual threads

enum { CARRIERS = 16384 };
// A carrier that unmounts need not look for ticks: the split is that of at most so much time before.
static const uint64_t MOST_UNMEASURED = 1000000;  // ns

static struct carrier *all_carriers;  // CARRIERS of them
static int32_t used_carriers;

static struct carrier *carriers_memory(void) {
    struct carrier *found = __atomic_load_n(&all_carriers, __ATOMIC_ACQUIRE);
    if (found) return found;
    long length = CARRIERS * sizeof *found;
    long memory = SYSCALL(__NR_mmap, 0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory < 0 && memory > -4096) return 0;
    struct carrier *mine = (struct carrier *)memory;
    if (__atomic_compare_exchange_n(&all_carriers, &found, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return mine;
    SYSCALL(__NR_munmap, memory, length);
    return found;
}

// A new one, or that of a thread that has ended: pools make carriers and let them go.
static struct carrier *free_carrier(int64_t tid) {
    struct carrier *all = carriers_memory();
    if (!all) return 0;
    int32_t used = __atomic_load_n(&used_carriers, __ATOMIC_ACQUIRE);
    for (int32_t i = 0; i < used && i < CARRIERS; i++) {
        int64_t owner = READ(all[i].tid);
        // One with our own id is of a thread before us.
        if (owner != 0 && owner != tid && !thread_is_gone((int32_t)owner)) continue;
        if (__atomic_compare_exchange_n(&all[i].tid, &owner, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return &all[i];
    }
    int32_t i = __atomic_fetch_add(&used_carriers, 1, __ATOMIC_ACQ_REL);
    if (i >= CARRIERS) {
        __atomic_fetch_sub(&used_carriers, 1, __ATOMIC_ACQ_REL);
        return 0;
    }
    WRITE(all[i].tid, tid);
    return &all[i];
}

static void start_carrying(struct thread_clock *t) {
    struct carrier *c = free_carrier(own_tid());
    if (!c) return;
    read_clock(t);
    // What the thread before left is what it carried, and all that it used.
    WRITE(c->first_cpu, (int64_t)t->cpu - (c->last_cpu - c->first_cpu));
    WRITE(c->first_user, (int64_t)t->user - (c->last_user - c->first_user));
    WRITE(c->last_cpu, (int64_t)t->cpu);
    WRITE(c->last_user, (int64_t)t->user);
    t->carrier = c;
}

static void stamp(struct carrier *c, const struct thread_clock *t) {
    WRITE(c->last_cpu, (int64_t)t->cpu);
    WRITE(c->last_user, (int64_t)t->user);
}

static void turn(struct carrier *c) { __atomic_store_n(&c->turn, c->turn + 1, __ATOMIC_RELEASE); }

// As split, but without steering to what was measured, which each unmount after that does: twice as quick.
static void advance(struct thread_clock *t, uint64_t cpu) {
    uint64_t grown = cpu - t->cpu;
    if (grown >> 32) return split(t, cpu);
    t->cpu = cpu;
    t->user += (grown * t->user_share) >> 32;
}

// A virtual thread that has used so much goes on on this carrier. Returns the carrier, 0 if there is no memory for it.
static int64_t mount(int64_t cpu, int64_t user) {
    struct thread_clock *t = own_clock();
    if (!t->carrier) start_carrying(t);
    struct carrier *c = t->carrier;
    if (!c) return 0;
    advance(t, cpu_now(t));
    WRITE(c->cpu_offset, (int64_t)t->cpu - cpu);
    WRITE(c->user_offset, (int64_t)t->user - user);
    stamp(c, t);
    turn(c);
    return (int64_t)c;
}

// It stops for now. Returns what it has used; the carrier's field user tells the user part.
static int64_t unmount(void) {
    struct thread_clock *t = own_clock();
    struct carrier *c = t->carrier;
    uint64_t cpu = cpu_now(t);
    if (cpu - t->measured_cpu > MOST_UNMEASURED) {
        measure(t);
        split(t, cpu);
    } else {
        advance(t, cpu);
    }
    turn(c);
    WRITE(c->carried_cpu, c->carried_cpu + (int64_t)t->cpu - c->last_cpu);
    WRITE(c->carried_user, c->carried_user + (int64_t)t->user - c->last_user);
    stamp(c, t);
    WRITE(c->user, (int64_t)t->user - c->user_offset);
    return (int64_t)t->cpu - c->cpu_offset;
}

// The calling thread is no carrier after all.
static void stopCarrying(void) {
    struct thread_clock *t = own_clock();
    struct carrier *c = t->carrier;
    t->carrier = 0;
    if (!c) return;
    WRITE(c->last_cpu, c->first_cpu);
    WRITE(c->last_user, c->first_user);
    WRITE(c->carried_cpu, 0);
    WRITE(c->carried_user, 0);
    __atomic_store_n(&c->tid, 0, __ATOMIC_RELEASE);
}

// Of the virtual thread that calls; -1 if nobody mounted it through us.
static int64_t virtualNanos(int32_t what) {
    struct thread_clock *t = own_clock();
    const struct carrier *c = t->carrier;
    if (!c || !(c->turn & 1)) return -1;
    if (what == VIRTUAL_CPU) return (int64_t)cpu_now(t) - c->cpu_offset;
    if (what == VIRTUAL_LAST_USER) return (int64_t)t->user - c->user_offset;
    read_clock(t);
    int64_t cpu = (int64_t)t->cpu - c->cpu_offset, user = (int64_t)t->user - c->user_offset;
    return what == VIRTUAL_USER ? user : what == VIRTUAL_SYSTEM ? cpu - user : cpu;
}

static int32_t carriers(const struct carrier **into) {
    *into = __atomic_load_n(&all_carriers, __ATOMIC_ACQUIRE);
    int32_t used = __atomic_load_n(&used_carriers, __ATOMIC_ACQUIRE);
    return used < CARRIERS ? used : CARRIERS;
}

const struct functions own_functions = {
    .magic = TASKCLOCK_MAGIC,
    .abi = TASKCLOCK_ABI,
    .size = sizeof(struct functions),
    .cpuNanos = cpuNanos,
    .userNanos = userNanos,
    .systemNanos = systemNanos,
    .nowCpuNanos = nowCpuNanos,
    .nowUserNanos = nowUserNanos,
    .clockNanos = clockNanos,
    .tickStamp = coarse_nanos,
    .selectRung = selectRung,
    .calibration = calibration,
    .virtualNanos = virtualNanos,
    .mount = mount,
    .unmount = unmount,
    .stopCarrying = stopCarrying,
    .carriers = carriers,
};
