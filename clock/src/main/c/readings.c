// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What each thread last read of itself. A thread that uses a base can be slightly ahead of the kernel's clock, which is
// what other threads read. They take the larger value, so a thread's time never seems to go backwards when another
// thread reads it. Threads that never use a base have no record.
//
// The records are in chains by thread id, so that a reader finds one without a lock. Records are never freed and never
// leave their chain: a new thread takes over the record of an ended one whose id is in the same chain.

#include "cpu.h"

#include <linux/mman.h>

enum { RECORDS_TO_CHECK = 16 };

struct own_reading {
    int32_t tid;
    struct own_reading *next;
    struct published_cpu last;
} __attribute__((aligned(SLOT_ALIGNMENT)));

enum { RECORDS_IN_PAGE = PAGE / sizeof(struct own_reading) - 1 };

struct readings_page {
    uint32_t used;
    struct own_reading records[RECORDS_IN_PAGE];
};

static struct own_reading **chain_of(int32_t tid) { return &process.readings[(uint32_t)tid % READING_CHAINS]; }

static struct own_reading *first_of(int32_t tid) { return __atomic_load_n(chain_of(tid), __ATOMIC_ACQUIRE); }

static struct own_reading *new_record(void) {
    for (;;) {
        struct readings_page *page = __atomic_load_n(&process.readings_page, __ATOMIC_ACQUIRE);
        uint32_t i = page ? __atomic_fetch_add(&page->used, 1, __ATOMIC_RELAXED) : RECORDS_IN_PAGE;
        if (i < RECORDS_IN_PAGE) return &page->records[i];
        struct readings_page *fresh = map_pages(PAGE);
        if (!fresh) return 0;
        if (!__atomic_compare_exchange_n(&process.readings_page, &page, fresh, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            SYSCALL(__NR_munmap, fresh, PAGE);
    }
}

static struct own_reading *claim_record(int32_t tid) {
    struct own_reading *record = first_of(tid);
    for (int i = 0; record && i < RECORDS_TO_CHECK; i++, record = READ(record->next))
        if (take_slot(&record->tid, tid)) return record;
    record = new_record();
    if (!record) return 0;
    WRITE(record->tid, tid);
    struct own_reading *first = first_of(tid);
    do WRITE(record->next, first);
    while (!__atomic_compare_exchange_n(chain_of(tid), &first, record, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    return record;
}

// Called before the calling thread takes its first base. Without memory, the thread has no record.
void start_publishing(struct thread_clock *t) {
    struct own_reading *record = claim_record(own_tid());
    t->published = record ? &record->last : &t->unpublished;
    WRITE(t->published->cpu, 0);
    WRITE(t->published->kernel_cpu, 0);
    WRITE(t->published->carrier_cpu, 0);
}

// An earlier record may have the same thread id, if it was left by an ended thread that had more CPU time than the
// kernel reports now. One with less differs by at most the life of a base, as does every reading.
int64_t thread_nanos(int32_t id) {
    enum { KIND = 7, SCHED_OF_THREAD = 4 | 2 };
    int32_t tid = ~id >> 3;
    if ((id & KIND) != SCHED_OF_THREAD || tid == 0) return clock_nanos(id);
    struct own_reading *record = first_of(tid);
    while (record && READ(record->tid) != tid) record = READ(record->next);
    if (!record) return clock_nanos(id);
    // Read before the kernel's clock, which is then larger than kernel_cpu unless the record is of an ended thread.
    uint64_t kernel_cpu = __atomic_load_n(&record->last.kernel_cpu, __ATOMIC_ACQUIRE);
    uint64_t cpu = __atomic_load_n(&record->last.cpu, __ATOMIC_ACQUIRE);
    uint64_t carrier_cpu = __atomic_load_n(&record->last.carrier_cpu, __ATOMIC_ACQUIRE);
    if (carrier_cpu > cpu) cpu = carrier_cpu;
    int64_t now = clock_nanos(id);
    return now >= 0 && (uint64_t)now >= kernel_cpu && cpu > (uint64_t)now ? (int64_t)cpu : now;
}
