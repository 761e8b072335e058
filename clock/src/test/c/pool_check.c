// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The pool of areas stays as large as the number of threads that live at once needs it, however they come and go. No area is
// registered here, so the kernel does not matter.

#include "taskclock.h"

static long watched_call(long number, long a, long b, long c, long d, long e, long f);

#define system_call watched_call
#include "rseq.c"
#undef system_call

#include "check.h"

enum { GONE_TID = 1 << 22 };  // more than the kernel ever gives
enum { STAYING_PAGES = 8, COMING = 200000, WAVES = 20, WAVE = 40 * SLOTS_IN_PAGE };

static void (*before_mapping)(void);

static long watched_call(long number, long a, long b, long c, long d, long e, long f) {
    void (*call)(void) = number == __NR_mmap ? before_mapping : 0;
    if (call) before_mapping = 0, call();
    return system_call(number, a, b, c, d, e, f);
}

long read_file(const char *path, char *text, long length) { return (void)path, (void)text, (void)length, 0; }

int64_t switches_of_thread(void) { return -1; }

int32_t own_tid(void) { return (int32_t)getpid(); }

static int pages(void) {
    int count = 0;
    for (struct slots *page = pool; page; page = page->older) count++;
    return count;
}

// The newest page belongs to threads that stay: they have the id of one that lives.
static void stay(void) {
    for (int i = 0; i < SLOTS_IN_PAGE; i++) pool->slot[i].tid = own_tid();
}

static struct slot *second_slot;

static void come_second(void) { second_slot = own_slot(GONE_TID + 1); }

// Two threads miss at the same moment, and the second maps a page while the first is about to: that page serves both.
static void check_one_page(void) {
    CHECK(own_slot(GONE_TID) == &pool->slot[0] && pages() == 1);
    stay();
    before_mapping = come_second;
    struct slot *first_slot = own_slot(GONE_TID);
    CHECK(second_slot && first_slot && first_slot != second_slot);
    CHECK(first_slot->tid == GONE_TID && second_slot->tid == GONE_TID + 1);
    CHECK(pages() == 2);
    CHECK(first_slot >= pool->slot && first_slot < pool->slot + SLOTS_IN_PAGE);
}

// A slot that was left, as the kernel refused it, is taken again in a page of any age.
static void check_left(void) {
    stay();
    for (int i = 0; i < SLOTS_IN_PAGE; i++) pool->older->slot[i].tid = 0;
    int before = pages();
    CHECK(own_slot(GONE_TID) && pages() == before);
}

// Pages full of threads that stay, and one short thread after another.
static void check_coming_and_going(void) {
    for (int i = 0; i < STAYING_PAGES; i++) {
        CHECK(own_slot(GONE_TID));
        for (struct slots *page = pool; page; page = page->older)
            for (int k = 0; k < SLOTS_IN_PAGE; k++) page->slot[k].tid = own_tid();
    }
    int staying = pages();
    for (int i = 0; i < COMING; i++) CHECK(own_slot(GONE_TID + i));
    printf("check-pool: %d pages of areas for %d that are full and %d threads after each other\n", pages(), staying, COMING);
    CHECK(pages() <= 2 * staying);
}

// Many come, stay together, and end together, again and again.
static void check_waves(void) {
    static struct slot *slots[WAVE];
    pool = asked_last = 0;
    for (int wave = 0; wave < WAVES; wave++) {
        for (int i = 0; i < WAVE; i++) {
            slots[i] = own_slot(GONE_TID + 1 + i);
            CHECK(slots[i] && slots[i]->tid == GONE_TID + 1 + i);
            slots[i]->tid = own_tid();
        }
        for (int i = 0; i < WAVE; i++) slots[i]->tid = GONE_TID;
    }
    printf("check-pool: %d pages of areas for %d waves of %d threads\n", pages(), WAVES, WAVE);
    CHECK(pages() <= 2 * (WAVE / SLOTS_IN_PAGE));
}

int main(void) {
    check_one_page();
    check_left();
    check_coming_and_going();
    check_waves();
    puts("check-pool: passed");
    return 0;
}
