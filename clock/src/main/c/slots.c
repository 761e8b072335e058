// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// A registry of per-thread records. Nothing tells us when a thread ends, so a new thread looks for a record whose thread is
// gone before it makes the registry larger.

#include "taskclock.h"

#include <linux/mman.h>

enum { OWNERS_TO_ASK = 16 };

struct slot_page {
    struct slot_page *older;
} __attribute__((aligned(SLOT_ALIGNMENT)));

static int32_t slots_in_page(int32_t size) { return (int32_t)(PAGE - sizeof(struct slot_page)) / size; }

static int32_t *slot_at(struct slot_page *page, int32_t size, int32_t i) {
    return (int32_t *)((char *)(page + 1) + (long)size * i);
}

static int take(int32_t *slot, int32_t owner, int32_t tid) {
    return __atomic_compare_exchange_n(slot, &owner, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// The newest page may have slots that nobody had yet. Of the others a few are asked each time, in turn: so a new thread
// costs the same however many there are. One from each page, as pages may be full of threads that stay; so where half of
// all slots are free, hardly a thread misses them and makes the registry larger.
static int32_t *free_slot(struct slots *slots, struct slot_page *newest, int32_t size, int32_t tid) {
    int32_t in_page = slots_in_page(size);
    for (int32_t i = 0; newest && i < in_page; i++) {
        int32_t *slot = slot_at(newest, size, i);
        if (READ(*slot) == 0 && take(slot, 0, tid)) return slot;
    }
    struct slot_page *page = __atomic_load_n(&slots->asked_last, __ATOMIC_ACQUIRE);
    int32_t *found = 0;
    for (int32_t i = 0; newest && !found && i < OWNERS_TO_ASK; i++) {
        page = page && READ(page->older) ? READ(page->older) : newest;
        int32_t *slot = slot_at(page, size, (int32_t)((uint32_t)(tid + i) % (uint32_t)in_page));
        int32_t owner = READ(*slot);
        // A slot with our own id was left by an earlier thread: we have none yet.
        if ((owner == 0 || owner == tid || thread_is_gone(owner)) && take(slot, owner, tid)) found = slot;
    }
    __atomic_store_n(&slots->asked_last, page, __ATOMIC_RELEASE);
    return found;
}

// Adds a page only if nobody else has since we looked: threads that start at one moment share one.
void *claim_slot(struct slots *slots, int32_t size, int32_t tid) {
    for (;;) {
        struct slot_page *newest = __atomic_load_n(&slots->newest, __ATOMIC_ACQUIRE);
        int32_t *slot = free_slot(slots, newest, size, tid);
        if (slot) return slot;
        struct slot_page *page = map_pages(PAGE);
        if (!page) return 0;
        slot = slot_at(page, size, 0);
        WRITE(*slot, tid);
        WRITE(page->older, newest);
        if (__atomic_compare_exchange_n(&slots->newest, &newest, page, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return slot;
        SYSCALL(__NR_munmap, page, PAGE);
    }
}

void leave_slot(void *slot) { __atomic_store_n((int32_t *)slot, 0, __ATOMIC_RELEASE); }

void *next_slot(struct slots *slots, int32_t size, void *slot) {
    struct slot_page *page = (struct slot_page *)((uintptr_t)slot & ~(uintptr_t)(PAGE - 1));
    int32_t i = slot ? (int32_t)(((char *)slot - (char *)(page + 1)) / size) + 1 : 0;
    if (!slot) page = __atomic_load_n(&slots->newest, __ATOMIC_ACQUIRE);
    if (page && i == slots_in_page(size)) page = READ(page->older), i = 0;
    return page ? slot_at(page, size, i) : 0;
}
