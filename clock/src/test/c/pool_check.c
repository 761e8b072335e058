// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// A registry of slots stays as large as the number of threads that live at once needs it, however they come and go. No area is
// registered here, so the kernel does not matter.

#include "taskclock.h"

#include "check.h"

static void *watched_map(long length);

#define map_pages watched_map
#include "slots.c"
#undef map_pages

enum { GONE_TID = 1 << 22 };  // more than the kernel ever gives
enum { SIZE = 64, SLOTS_IN_PAGE = PAGE / SIZE - 1, STAYING_PAGES = 8, COMING = 200000, WAVES = 20, WAVE = 40 * SLOTS_IN_PAGE };

static void (*before_mapping)(void);

static void *watched_map(long length) {
    void (*call)(void) = before_mapping;
    before_mapping = 0;
    if (call) call();
    return map_pages(length);
}

static struct slots slots;

static int32_t *own_slot(int32_t tid) { return claim_slot(&slots, SIZE, tid); }

static int pages(void) {
    int count = 0;
    for (struct slot_page *page = slots.newest; page; page = page->older) count++;
    return count;
}

// The newest page belongs to threads that stay: they have the id of one that lives.
static void stay(void) {
    for (int i = 0; i < SLOTS_IN_PAGE; i++) *slot_at(slots.newest, SIZE, i) = own_tid();
}

static int32_t *second_slot;

static void come_second(void) { second_slot = own_slot(GONE_TID + 1); }

// Two threads miss at the same moment, and the second maps a page while the first is about to: that page serves both.
static void check_one_page(void) {
    CHECK(own_slot(GONE_TID) == slot_at(slots.newest, SIZE, 0) && pages() == 1);
    stay();
    before_mapping = come_second;
    int32_t *first_slot = own_slot(GONE_TID);
    CHECK(second_slot && first_slot && first_slot != second_slot);
    CHECK(*first_slot == GONE_TID && *second_slot == GONE_TID + 1);
    CHECK(pages() == 2);
    CHECK(first_slot >= slot_at(slots.newest, SIZE, 0) && first_slot <= slot_at(slots.newest, SIZE, SLOTS_IN_PAGE - 1));
}

// A slot that was left, as the kernel refused it, is taken again in a page of any age.
static void check_left(void) {
    stay();
    for (int i = 0; i < SLOTS_IN_PAGE; i++) *slot_at(slots.newest->older, SIZE, i) = 0;
    int before = pages();
    CHECK(own_slot(GONE_TID) && pages() == before);
}

// Pages full of threads that stay, and one short thread after another.
static void check_coming_and_going(void) {
    for (int i = 0; i < STAYING_PAGES; i++) {
        CHECK(own_slot(GONE_TID));
        for (struct slot_page *page = slots.newest; page; page = page->older)
            for (int k = 0; k < SLOTS_IN_PAGE; k++) *slot_at(page, SIZE, k) = own_tid();
    }
    int staying = pages();
    for (int i = 0; i < COMING; i++) CHECK(own_slot(GONE_TID + i));
    printf("check-pool: %d pages for %d that are full and %d threads after each other\n", pages(), staying, COMING);
    CHECK(pages() <= 2 * staying);
}

// Many come, stay together, and end together, again and again.
static void check_waves(void) {
    static int32_t *wave_slots[WAVE];
    slots = (struct slots){0, 0};
    for (int wave = 0; wave < WAVES; wave++) {
        for (int i = 0; i < WAVE; i++) {
            wave_slots[i] = own_slot(GONE_TID + 1 + i);
            CHECK(wave_slots[i] && *wave_slots[i] == GONE_TID + 1 + i);
            *wave_slots[i] = own_tid();
        }
        for (int i = 0; i < WAVE; i++) *wave_slots[i] = GONE_TID;
    }
    printf("check-pool: %d pages for %d waves of %d threads\n", pages(), WAVES, WAVE);
    CHECK(pages() <= 2 * (WAVE / SLOTS_IN_PAGE));
}

// All slots of all pages are listed, each once.
static void check_listing(void) {
    int listed = 0, taken = 0;
    for (int32_t *slot = 0; (slot = next_slot(&slots, SIZE, slot)); listed++) taken += *slot != 0;
    CHECK(listed == pages() * SLOTS_IN_PAGE && taken >= WAVE);
}

int main(void) {
    check_one_page();
    check_left();
    check_coming_and_going();
    check_waves();
    check_listing();
    puts("check-pool: passed");
    return 0;
}
