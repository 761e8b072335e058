// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// A registry of per-thread records. We are not notified when a thread ends, so a new thread looks for the record of an
// ended thread before it enlarges the registry.

#include "taskclock.h"

#include <linux/mman.h>

enum { OWNERS_TO_CHECK = 16 };

struct slot_page {
    struct slot_page *older;
} __attribute__((aligned(SLOT_ALIGNMENT)));

static int32_t slots_in_page(int32_t size) { return (int32_t)(PAGE - sizeof(struct slot_page)) / size; }

static int32_t *slot_at(struct slot_page *page, int32_t size, int32_t i) {
    return (int32_t *)((char *)(page + 1) + (long)size * i);
}

static int try_take(int32_t *slot, int32_t owner, int32_t tid) {
    return __atomic_compare_exchange_n(slot, &owner, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int take_slot(int32_t *slot, int32_t tid) {
    int32_t owner = READ(*slot);
    // A slot with our own tid was left by an earlier thread, because we have none yet.
    if (owner == 0 || owner == tid) return try_take(slot, owner, tid);
    if (!thread_is_gone(owner) || !try_take(slot, owner, tid)) return 0;
    if (thread_is_gone(owner)) return 1;
    // After the first check, a new thread with that id started. It may have taken the slot before we did.
    __atomic_store_n(slot, owner, __ATOMIC_RELEASE);
    return 0;
}

// The newest page may have unused slots. In other pages, only a few slots are checked each time, in rotation, so the
// cost of a new thread does not depend on the number of threads. One slot is checked per page, because some pages may
// be full of long-lived threads. If half of all slots are free, a thread rarely has to enlarge the registry.
static int32_t *free_slot(struct slots *slots, struct slot_page *newest, int32_t size, int32_t tid) {
    int32_t in_page = slots_in_page(size);
    for (int32_t i = 0; newest && i < in_page; i++) {
        int32_t *slot = slot_at(newest, size, i);
        if (READ(*slot) == 0 && try_take(slot, 0, tid)) return slot;
    }
    struct slot_page *page = __atomic_load_n(&slots->last_checked, __ATOMIC_ACQUIRE);
    int32_t *found = 0;
    for (int32_t i = 0; newest && !found && i < OWNERS_TO_CHECK; i++) {
        page = page && READ(page->older) ? READ(page->older) : newest;
        int32_t *slot = slot_at(page, size, (int32_t)((uint32_t)(tid + i) % (uint32_t)in_page));
        if (take_slot(slot, tid)) found = slot;
    }
    __atomic_store_n(&slots->last_checked, page, __ATOMIC_RELEASE);
    return found;
}

// Adds a page only if no other thread has added one since the search, so threads that start at the same time share a
// page.
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
        if (__atomic_compare_exchange_n(&slots->newest, &newest, page, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return slot;
        SYSCALL(__NR_munmap, page, PAGE);
    }
}

void release_slot(void *slot) { __atomic_store_n((int32_t *)slot, 0, __ATOMIC_RELEASE); }

void *next_slot(struct slots *slots, int32_t size, void *slot) {
    struct slot_page *page = (struct slot_page *)((uintptr_t)slot & ~(uintptr_t)(PAGE - 1));
    int32_t i = slot ? (int32_t)(((char *)slot - (char *)(page + 1)) / size) + 1 : 0;
    if (!slot) page = __atomic_load_n(&slots->newest, __ATOMIC_ACQUIRE);
    if (page && i == slots_in_page(size)) page = READ(page->older), i = 0;
    return page ? slot_at(page, size, i) : 0;
}
