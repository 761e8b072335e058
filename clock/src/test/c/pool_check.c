// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Checks that the size of a slot registry depends only on the number of concurrent threads, not on how many threads
// start and end, and that no two threads own a slot. It registers no rseq area, so the kernel version does not matter.

#include "taskclock.h"

#include "check.h"

static void *intercepted_map(long length);
static int intercepted_is_gone(int32_t tid);

#define map_pages intercepted_map
#define thread_is_gone intercepted_is_gone
#include "slots.c"
#undef map_pages
#undef thread_is_gone

enum { DEAD_TID = 1 << 22 };  // larger than any id that the kernel assigns
enum { SIZE = 64, SLOTS_IN_PAGE = PAGE / SIZE - 1, FULL_PAGES = 8, SHORT_THREADS = 200000 };
enum { WAVES = 20, WAVE_THREADS = 40 * SLOTS_IN_PAGE };

static void (*before_mapping)(void);

static void *intercepted_map(long length) {
    void (*call)(void) = before_mapping;
    before_mapping = 0;
    if (call) call();
    return map_pages(length);
}

static struct slots slots;

// Starts, and takes a slot, just after another thread has found that the previous thread with this id is gone.
static int32_t late_tid;
static int32_t *slot_of_late_thread;

static int intercepted_is_gone(int32_t tid) {
    if (tid != late_tid) return thread_is_gone(tid);
    if (slot_of_late_thread) return 0;
    slot_of_late_thread = claim_slot(&slots, SIZE, late_tid);
    return 1;
}

static int32_t *claim(int32_t tid) { return claim_slot(&slots, SIZE, tid); }

static int page_count(void) {
    int count = 0;
    for (struct slot_page *page = slots.newest; page; page = page->older) count++;
    return count;
}

// Assigns all slots of the newest page to a live thread: this one.
static void fill_newest_page(void) {
    for (int i = 0; i < SLOTS_IN_PAGE; i++) *slot_at(slots.newest, SIZE, i) = own_tid();
}

static int32_t *second_slot;

static void claim_second_slot(void) { second_slot = claim(DEAD_TID + 1); }

// Two threads find no free slot at the same time. The second maps a page just before the first does. Both use that
// page.
static void check_concurrent_growth(void) {
    CHECK(claim(DEAD_TID) == slot_at(slots.newest, SIZE, 0) && page_count() == 1);
    fill_newest_page();
    before_mapping = claim_second_slot;
    int32_t *first_slot = claim(DEAD_TID);
    CHECK(second_slot && first_slot && first_slot != second_slot);
    CHECK(*first_slot == DEAD_TID && *second_slot == DEAD_TID + 1);
    CHECK(page_count() == 2);
    CHECK(first_slot >= slot_at(slots.newest, SIZE, 0) && first_slot <= slot_at(slots.newest, SIZE, SLOTS_IN_PAGE - 1));
}

// A slot that was released because the kernel rejected its area is reused even if its page is not the newest.
static void check_released_slots(void) {
    fill_newest_page();
    for (int i = 0; i < SLOTS_IN_PAGE; i++) *slot_at(slots.newest->older, SIZE, i) = 0;
    int before = page_count();
    CHECK(claim(DEAD_TID) && page_count() == before);
}

// Short-lived threads run one after another while other pages are full of live threads.
static void check_short_threads(void) {
    for (int i = 0; i < FULL_PAGES; i++) {
        CHECK(claim(DEAD_TID));
        for (struct slot_page *page = slots.newest; page; page = page->older)
            for (int k = 0; k < SLOTS_IN_PAGE; k++) *slot_at(page, SIZE, k) = own_tid();
    }
    int full_pages = page_count();
    for (int i = 0; i < SHORT_THREADS; i++) CHECK(claim(DEAD_TID + i));
    printf("check-pool: %d pages (%d of them full) for %d short-lived threads\n", page_count(), full_pages,
           SHORT_THREADS);
    CHECK(page_count() <= 2 * full_pages);
}

// Many threads start, live at the same time, and end, several times.
static void check_waves(void) {
    static int32_t *wave_slots[WAVE_THREADS];
    slots = (struct slots){0, 0};
    for (int wave = 0; wave < WAVES; wave++) {
        for (int i = 0; i < WAVE_THREADS; i++) {
            wave_slots[i] = claim(DEAD_TID + 1 + i);
            CHECK(wave_slots[i] && *wave_slots[i] == DEAD_TID + 1 + i);
            *wave_slots[i] = own_tid();
        }
        for (int i = 0; i < WAVE_THREADS; i++) *wave_slots[i] = DEAD_TID;
    }
    printf("check-pool: %d pages for %d waves of %d threads\n", page_count(), WAVES, WAVE_THREADS);
    CHECK(page_count() <= 2 * (WAVE_THREADS / SLOTS_IN_PAGE));
}

// The kernel gives the id of an ended thread to a new one while a third thread is taking over the ended thread's slot.
// The registry has one page, and only that slot is not owned by a live thread.
static void check_reused_id(void) {
    slots = (struct slots){0, 0};
    for (int i = 0; i < SLOTS_IN_PAGE; i++) {
        CHECK(claim(DEAD_TID));
        fill_newest_page();
        *slot_at(slots.newest, SIZE, i) = late_tid = DEAD_TID;
        slot_of_late_thread = 0;
        for (int32_t tid = DEAD_TID + 1; !slot_of_late_thread; tid++) {
            int32_t *slot = claim(tid);
            CHECK(slot && *slot == tid && slot != slot_of_late_thread);
        }
        CHECK(*slot_of_late_thread == DEAD_TID);
        slots = (struct slots){0, 0};
    }
    late_tid = 0;
}

// Each slot of each page is listed exactly once.
static void check_listing(void) {
    int listed = 0, taken = 0;
    for (int32_t *slot = 0; (slot = next_slot(&slots, SIZE, slot)); listed++) taken += *slot != 0;
    CHECK(listed == page_count() * SLOTS_IN_PAGE && taken >= WAVE_THREADS);
}

int main(void) {
    check_concurrent_growth();
    check_released_slots();
    check_short_threads();
    check_waves();
    check_listing();
    check_reused_id();
    puts("check-pool: passed");
    return 0;
}
