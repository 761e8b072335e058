// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Usage: check-threads rseq|rseq-own|rseq-take
//
// Checks the state that threads share: the pool of areas, the calibration, and the life of bases. Thousands of
// short-lived threads read the clock while other threads read continuously and the counter is calibrated repeatedly. It
// is built with ThreadSanitizer, whose first report ends the program.

#include <pthread.h>
#include <stdlib.h>

// Yields at every fourth access, so that other threads hit windows of a nanosecond.
static void maybe_yield(void);
#define AT_ACCESS maybe_yield

#include "backends.h"

enum { SELECTORS = 4, READERS = 2, SPAWNERS = 4, THREADS = 64, WAVES = 10, READINGS = 50 };
static const int64_t TOLERANCE = 1000000;  // ns
static const struct timespec MILLISECOND = {0, 1000000};

static int tested_backend;

static void maybe_yield(void) {
    static __thread uint32_t accesses;
    if (accesses++ % 4 == 0) system_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void sleep_briefly(void) {
    struct timespec time = {0, 100000};
    nanosleep(&time, 0);
}

// ---- ThreadSanitizer

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "halt_on_error=1"; }

// Ignores volatile accesses, which are to areas and the markers in them: the kernel writes to these, too. Threads also
// reuse the areas of threads that have ended, which they detect with tgkill. ThreadSanitizer does not know that.
// take_ownership() checks that no two threads have the same area at the same time.
#define IGNORE_VOLATILE(access)            \
    void __tsan_volatile_##access(void *); \
    void __tsan_volatile_##access(void *address) { (void)address; }
IGNORE_VOLATILE(read4)
IGNORE_VOLATILE(write4)
IGNORE_VOLATILE(read8)
IGNORE_VOLATILE(write8)

// ---- short-lived threads

static int32_t *slot_of_marker(volatile uint64_t *marker) {
    return (int32_t *)((char *)marker - offsetof(struct area_slot, area.flags));
}

// Checks that no other thread owns the slot, or owned it without releasing it. An unused field of the slot stores the
// owner's id.
static void take_ownership(int32_t *slot, int32_t *owner) {
    CHECK(READ(*slot) == own_tid());
    CHECK(__atomic_exchange_n(owner, own_tid(), __ATOMIC_RELAXED) == 0);
}

static void release_ownership(int32_t *slot, int32_t *owner) {
    CHECK(READ(*slot) == own_tid());
    CHECK(__atomic_exchange_n(owner, 0, __ATOMIC_RELAXED) == own_tid());
}

static int32_t *owner_of_carrier(struct carrier *c) { return (int32_t *)&c->padding[2]; }

static int64_t read_once(int64_t last) {
    int64_t before = reference_cpu_nanos(), cpu = own_functions.cpuNanos(), after = reference_cpu_nanos();
    CHECK(cpu >= last);
    // A reading may be ahead by the time that the host steals during the life of a base.
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE + (int64_t)LONGEST_LIFE);
    return cpu;
}

static int64_t read_repeatedly(int64_t last) {
    for (int i = 0; i < READINGS; i++) {
        int64_t cpu = own_functions.cpuNanos();
        CHECK(cpu >= last);
        last = cpu;
    }
    return read_once(last);
}

// Checks that the kernel uses the area with the marker for this thread.
static void check_registered(void) {
    int64_t switches = switches_of_thread();
    *self.marker = process_marker();
    sleep_briefly();
    CHECK(*self.marker != process_marker() || switches_of_thread() == switches);  // there may have been no switch
}

static void *run_thread(void *barrier) {
    pthread_barrier_wait(barrier);  // so that all threads claim their areas at the same time
    int64_t last = read_once(0);
    CHECK(self.marker && self.marker != &no_marker);
    int32_t *slot = tested_backend != BACKEND_RSEQ ? slot_of_marker(self.marker) : 0;
    if (slot) take_ownership(slot, slot + 1);
    // All threads are carriers at the same time, each with its own record.
    struct carrier *c = (struct carrier *)own_functions.mount(0, 0);
    CHECK(c);
    take_ownership((int32_t *)c, owner_of_carrier(c));
    check_registered();
    last = read_repeatedly(last);
    pthread_barrier_wait(barrier);  // now all threads have an area
    check_registered();
    read_repeatedly(last);
    CHECK(own_functions.unmount() >= 0);  // 0 if the clock was ahead and did not advance
    release_ownership((int32_t *)c, owner_of_carrier(c));
    if (slot) release_ownership(slot, slot + 1);
    return 0;
}

static void *run_waves(void *unused) {
    for (int wave = 0; wave < WAVES; wave++) {
        pthread_t threads[THREADS];
        pthread_barrier_t barrier;
        CHECK(pthread_barrier_init(&barrier, 0, THREADS) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], 0, run_thread, &barrier) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], 0) == 0);
        CHECK(pthread_barrier_destroy(&barrier) == 0);
    }
    return unused;
}

static int count_pages(struct slots *slots) {
    int pages = 0;
    for (struct slot_page *page = slots->newest; page; page = READ(page->older)) pages++;
    return pages;
}

// Checks that slots are reused. Without reuse there would be one for each thread that ever ran.
static void check_pages(const char *what, struct slots *slots, int32_t size) {
    int pages = count_pages(slots), per_page = slots_in_page(size);
    int concurrent = SPAWNERS * THREADS + SPAWNERS + READERS + SELECTORS, total = SPAWNERS * THREADS * WAVES;
    int min_pages = concurrent / per_page + 1;
    printf("check-threads: %d pages of %s for %d threads, at most %d at a time\n", pages, what, total, concurrent);
    CHECK(pages >= 1 && pages <= 4 * min_pages);
    CHECK(total / per_page > 6 * min_pages);
}

// Checks that the records keep the totals of carriers that have ended. Each thread mounted once.
static void check_carrier_totals(void) {
    static int64_t records[CARRIER_FIELDS * 4096];
    int32_t count = own_functions.carriers(records, 4096), transitions = 0;
    CHECK(count > 0 && count <= 4096);
    for (int32_t i = 0; i < count; i++) {
        const struct carrier *c = (const struct carrier *)(records + i * CARRIER_FIELDS);
        transitions += (int32_t)c->sequence;
        CHECK(c->carried_cpu >= 0 && c->carried_cpu <= c->last_cpu - c->first_cpu);
    }
    CHECK(transitions == 2 * SPAWNERS * THREADS * WAVES);
}

// ---- long-running threads

static int done;

static void *read_until_done(void *unused) {
    int64_t last = 0;
    while (!READ(done)) last = read_repeatedly(last);
    return unused;
}

// Makes a calibration due each millisecond, for this thread or a reader.
static void calibrate_until_done(void) {
    struct clock_report first = {.counter_hertz = -1}, last;
    while (!READ(done)) {
        nanosleep(&MILLISECOND, 0);
        WRITE(due_counts, 1);
        calibrate();
        own_functions.report(&last);
        if (first.counter_hertz < 0) first = last;
    }
    CHECK(last.observed_nanos > first.observed_nanos);
    CHECK(first.counter_hertz > 0 && last.calibrated_over_nanos > 0 && last.life_nanos >= 0);
    CHECK(llabs(last.counter_hertz - first.counter_hertz) < first.counter_hertz / 1000);
}

static void *run_spawners(void *unused) {
    pthread_t threads[SPAWNERS];
    for (int i = 0; i < SPAWNERS; i++) CHECK(pthread_create(&threads[i], 0, run_waves, 0) == 0);
    for (int i = 0; i < SPAWNERS; i++) CHECK(pthread_join(threads[i], 0) == 0);
    WRITE(done, 1);
    return unused;
}

// Selects the backend on several threads, as copies of the library do that are initialized at the same time.
static void *select_on_thread(void *unused) {
    (void)unused;
    return (void *)(intptr_t)own_functions.selectBackend(tested_backend);
}

static int32_t select_concurrently(void) {
    pthread_t threads[SELECTORS];
    void *results[SELECTORS];
    for (int i = 0; i < SELECTORS; i++) CHECK(pthread_create(&threads[i], 0, select_on_thread, 0) == 0);
    for (int i = 0; i < SELECTORS; i++) CHECK(pthread_join(threads[i], &results[i]) == 0);
    for (int i = 1; i < SELECTORS; i++) CHECK(results[i] == results[0]);
    return (int32_t)(intptr_t)results[0];
}

int main(int count, char **arguments) {
    tested_backend = parse_backend(count, arguments);
    clock_init();
    pthread_t readers[READERS], waves;
    for (int i = 0; i < READERS; i++) CHECK(pthread_create(&readers[i], 0, read_until_done, 0) == 0);
    int32_t probe_result = select_concurrently();
    if (probe_result == PROBE_USABLE) {
        CHECK(pthread_create(&waves, 0, run_spawners, 0) == 0);
        calibrate_until_done();
        CHECK(pthread_join(waves, 0) == 0);
    }
    WRITE(done, 1);
    for (int i = 0; i < READERS; i++) CHECK(pthread_join(readers[i], 0) == 0);
    if (probe_result == PROBE_USABLE) {
        if (tested_backend != BACKEND_RSEQ) check_pages("areas", &process.areas, sizeof(struct area_slot));
        else CHECK(count_pages(&process.areas) == 0);
        check_pages("carriers", &process.carriers, sizeof(struct carrier));
        check_carrier_totals();
    }
    if (probe_result == PROBE_USABLE) printf("check-threads %s: passed\n", arguments[1]);
    else printf("check-threads %s: NOT RUN because %s\n", arguments[1], probe_failure_text(probe_result));
    return 0;
}
