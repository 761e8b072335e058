// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What threads share: the pool of areas, the calibration, how long a base lives. Thousands of threads come and go and read
// while others read all the time and the counter is calibrated over and over. Built under ThreadSanitizer, whose first
// report ends it: check-threads rseq|rseq-own

#include <pthread.h>
#include <stdlib.h>

// Now and then another thread runs in between, so that windows of a nanosecond are hit.
static void give_way(void);
#define AT_ACCESS give_way

#include "rungs.h"

enum { SELECTORS = 4, READERS = 2, SPAWNERS = 4, THREADS = 64, WAVES = 10, READINGS = 50 };
static const int64_t TOLERANCE = 1000000;  // ns
static const struct timespec MILLISECOND = {0, 1000000};

static int rung_here;

static void give_way(void) {
    static __thread uint32_t accesses;
    if (accesses++ % 4 == 0) system_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void nap(void) {
    struct timespec time = {0, 100000};
    nanosleep(&time, 0);
}

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

static int32_t *slot_of(volatile uint64_t *marker) {
    return (int32_t *)((char *)marker - offsetof(struct area_slot, area.flags));
}

// Nobody else has the slot, and nobody had it without leaving it. Who has it is also in a word of it that nothing uses.
static void enter(int32_t *slot, int32_t *user) {
    CHECK(READ(*slot) == own_tid());
    CHECK(__atomic_exchange_n(user, own_tid(), __ATOMIC_RELAXED) == 0);
}

static void leave(int32_t *slot, int32_t *user) {
    CHECK(READ(*slot) == own_tid());
    CHECK(__atomic_exchange_n(user, 0, __ATOMIC_RELAXED) == own_tid());
}

static int32_t *user_of_carrier(struct carrier *c) { return (int32_t *)&c->padding[3]; }

static int64_t read_once(int64_t last) {
    int64_t before = reference(), cpu = own_functions.cpuNanos(), after = reference();
    CHECK(cpu >= last);
    // Ahead by what a host takes away while a base lives.
    CHECK(cpu >= before - TOLERANCE && cpu <= after + TOLERANCE + (int64_t)LONGEST_LIFE);
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
    *self.marker = process_marker();
    nap();
    CHECK(*self.marker != process_marker() || switches_of_thread() == switches);  // it may not have come to a switch
}

static void *live(void *together) {
    pthread_barrier_wait(together);  // so that they take their areas at one moment
    int64_t last = read_once(0);
    CHECK(self.marker && self.marker != &no_marker);
    int32_t *slot = rung_here == RUNG_RSEQ_OWN ? slot_of(self.marker) : 0;
    if (slot) enter(slot, slot + 1);
    // All carry at one moment as well, and each has a record of its own.
    struct carrier *c = (struct carrier *)own_functions.mount(0, 0);
    CHECK(c);
    enter((int32_t *)c, user_of_carrier(c));
    check_registered();
    last = read_often(last);
    pthread_barrier_wait(together);  // all are alive
    check_registered();
    read_often(last);
    CHECK(own_functions.unmount() >= 0);  // none while the clock stands, as it was ahead
    leave((int32_t *)c, user_of_carrier(c));
    if (slot) leave(slot, slot + 1);
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

static int pages_of(struct slots *slots) {
    int pages = 0;
    for (struct slot_page *page = slots->newest; page; page = READ(page->older)) pages++;
    return pages;
}

// Far below what it is if slots are not used again, one for each thread that ever lived.
static void check_pages(const char *what, struct slots *slots, int32_t size) {
    int pages = pages_of(slots), in_page = slots_in_page(size);
    int alive = SPAWNERS * THREADS + SPAWNERS + READERS + SELECTORS, ever = SPAWNERS * THREADS * WAVES;
    int least = alive / in_page + 1;
    printf("check-threads: %d pages of %s for %d threads, of which %d at a time\n", pages, what, ever, alive);
    CHECK(pages >= 1 && pages <= 4 * least);
    CHECK(ever / in_page > 6 * least);
}

// What carriers that are gone carried is not lost: each thread mounted once.
static void check_totals(void) {
    static int64_t records[CARRIER_FIELDS * 4096];
    int32_t count = own_functions.carriers(records, 4096), turns = 0;
    CHECK(count > 0 && count <= 4096);
    for (int32_t i = 0; i < count; i++) {
        const struct carrier *c = (const struct carrier *)(records + i * CARRIER_FIELDS);
        turns += (int32_t)c->turn;
        CHECK(c->carried_cpu >= 0 && c->carried_cpu <= c->last_cpu - c->first_cpu);
    }
    CHECK(turns == 2 * SPAWNERS * THREADS * WAVES);
}

// ---- threads that stay

static int done;

static void *read_on(void *unused) {
    int64_t last = 0;
    while (!READ(done)) last = read_often(last);
    return unused;
}

// Meanwhile each millisecond whoever reads calibrates.
static void calibrate_on(void) {
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
    if (refusal == PROBE_USABLE) {
        if (rung_here == RUNG_RSEQ_OWN) check_pages("areas", &process.areas, sizeof(struct area_slot));
        else CHECK(pages_of(&process.areas) == 0);
        check_pages("carriers", &process.carriers, sizeof(struct carrier));
        check_totals();
    }
    if (refusal == PROBE_USABLE) printf("check-threads %s: passed\n", arguments[1]);
    else printf("check-threads %s: NOT RUN, because %s\n", arguments[1], reason(refusal));
    return 0;
}
