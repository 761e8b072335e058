// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What threads share: the pool of areas, the calibration, how long a base lives. Thousands of threads come and go and read
// while others read all the time and the counter is calibrated over and over. Built under ThreadSanitizer, whose first
// report ends it: check-threads rseq|rseq-own

#include <pthread.h>
#include <stdlib.h>

#include "rungs.h"

enum { SELECTORS = 4, READERS = 2, SPAWNERS = 4, THREADS = 50, WAVES = 10, READINGS = 50 };
static const int64_t TOLERANCE = 1000000;  // ns
static const struct timespec MILLISECOND = {0, 1000000};

static int rung_here;

// ---- ThreadSanitizer

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "halt_on_error=1"; }

// What is volatile the kernel writes too: areas and the markers in them. One thread has an area after another, and that the
// first has ended the second knows from tgkill, which ThreadSanitizer does not. That no two have one at a time is checked below.
#define IGNORED(access)             \
    void __tsan_volatile_##access(void *); \
    void __tsan_volatile_##access(void *address) { (void)address; }
IGNORED(read4)
IGNORED(write4)
IGNORED(read8)
IGNORED(write8)

// ---- threads that come and go

static struct slot *slot_of(volatile uint64_t *marker) {
    return (struct slot *)((char *)marker - offsetof(struct area, flags));
}

// Nobody else has it, and nobody had it without leaving it.
static void enter(struct slot *slot) {
    CHECK(READ(slot->tid) == own_tid());
    CHECK(__atomic_exchange_n((int32_t *)slot->padding, own_tid(), __ATOMIC_RELAXED) == 0);
}

static void leave(struct slot *slot) {
    CHECK(READ(slot->tid) == own_tid());
    CHECK(__atomic_exchange_n((int32_t *)slot->padding, 0, __ATOMIC_RELAXED) == own_tid());
}

static int64_t read_once(int64_t last) {
    int64_t before = reference(), cpu = own_functions.cpuNanos(), after = reference();
    CHECK(cpu >= last);
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE);
    return cpu;
}

static int64_t read_often(int64_t last) {
    for (int i = 0; i < READINGS; i++) {
        int64_t cpu = own_functions.cpuNanos();
        CHECK(cpu >= last);
        last = cpu;
    }
    return read_once(last);
}

// The area that the marker is in is this thread's, as far as the kernel is concerned.
static void check_registered(void) {
    int64_t switches = switches_of_thread();
    *self.marker = rseq_marker;
    block();
    CHECK(*self.marker != rseq_marker || switches_of_thread() == switches);  // it may not have come to a switch
}

static void *live(void *together) {
    pthread_barrier_wait(together);  // so that they take their areas at one moment
    int64_t last = read_once(0);
    CHECK(self.marker && self.marker != &no_marker);
    if (rung_here == RUNG_RSEQ_OWN) enter(slot_of(self.marker));
    check_registered();
    last = read_often(last);
    pthread_barrier_wait(together);  // all are alive
    check_registered();
    read_often(last);
    if (rung_here == RUNG_RSEQ_OWN) leave(slot_of(self.marker));
    return 0;
}

static void *spawn(void *unused) {
    for (int wave = 0; wave < WAVES; wave++) {
        pthread_t threads[THREADS];
        pthread_barrier_t together;
        CHECK(pthread_barrier_init(&together, 0, THREADS) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], 0, live, &together) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], 0) == 0);
        CHECK(pthread_barrier_destroy(&together) == 0);
    }
    return unused;
}

// Far below what it is if areas are not used again, one for each thread that ever lived.
static void check_pool(void) {
    int pages = 0, alive = SPAWNERS * THREADS + SPAWNERS + READERS + SELECTORS, ever = SPAWNERS * THREADS * WAVES;
    for (struct slots *page = pool; page; page = READ(page->older)) pages++;
    int least = alive / SLOTS_IN_PAGE + 1;
    printf("check-threads: %d pages of areas for %d threads, of which %d at a time\n", pages, ever, alive);
    CHECK(rung_here == RUNG_RSEQ_OWN ? pages >= 1 && pages <= 4 * least : pages == 0);
    CHECK(ever / SLOTS_IN_PAGE > 6 * least);
}

// ---- threads that stay

static int done;

static void *read_on(void *unused) {
    int64_t last = 0;
    while (!READ(done)) last = read_often(last);
    return unused;
}

// Meanwhile each millisecond whoever reads calibrates, and the next good base makes all live twice as long.
static void calibrate_on(void) {
    int judged = 0;
    uint64_t counts = 0;
    struct calibration first = {-1, -1, -1}, last;
    while (!READ(done)) {
        nanosleep(&MILLISECOND, 0);
        WRITE(next_calibration, 0);
        own_functions.calibration(&last);
        if (last.counter_hertz < 0) continue;
        if (first.counter_hertz < 0) first = last, counts = READ(base_counts);
        judged |= READ(base_counts) == 2 * counts;
        WRITE(base_counts, counts);
        WRITE(good_bases, GOOD_BASES - 1);
    }
    CHECK(judged);
    CHECK(first.counter_hertz > 0 && last.over_nanos > first.over_nanos && last.base_nanos > 0);
    CHECK(llabs(last.counter_hertz - first.counter_hertz) < first.counter_hertz / 1000);
}

static void *run_waves(void *unused) {
    pthread_t threads[SPAWNERS];
    for (int i = 0; i < SPAWNERS; i++) CHECK(pthread_create(&threads[i], 0, spawn, 0) == 0);
    for (int i = 0; i < SPAWNERS; i++) CHECK(pthread_join(threads[i], 0) == 0);
    WRITE(done, 1);
    return unused;
}

// Copies of the library that start at the same time select the rung at the same time.
static void *select_it(void *unused) {
    (void)unused;
    return (void *)(intptr_t)own_functions.selectRung(rung_here);
}

static int32_t select_at_once(void) {
    pthread_t threads[SELECTORS];
    void *answers[SELECTORS];
    for (int i = 0; i < SELECTORS; i++) CHECK(pthread_create(&threads[i], 0, select_it, 0) == 0);
    for (int i = 0; i < SELECTORS; i++) CHECK(pthread_join(threads[i], &answers[i]) == 0);
    for (int i = 1; i < SELECTORS; i++) CHECK(answers[i] == answers[0]);
    return (int32_t)(intptr_t)answers[0];
}

int main(int count, char **arguments) {
    rung_here = named_rung(count, arguments);
    clock_init();
    pthread_t readers[READERS], waves;
    for (int i = 0; i < READERS; i++) CHECK(pthread_create(&readers[i], 0, read_on, 0) == 0);
    int32_t refusal = select_at_once();
    if (refusal == PROBE_USABLE) {
        CHECK(pthread_create(&waves, 0, run_waves, 0) == 0);
        calibrate_on();
        CHECK(pthread_join(waves, 0) == 0);
    }
    WRITE(done, 1);
    for (int i = 0; i < READERS; i++) CHECK(pthread_join(readers[i], 0) == 0);
    if (refusal == PROBE_USABLE) check_pool();
    if (refusal == PROBE_USABLE) printf("check-threads %s: passed\n", arguments[1]);
    else printf("check-threads %s: NOT RUN, because %s\n", arguments[1], reason(refusal));
    return 0;
}
