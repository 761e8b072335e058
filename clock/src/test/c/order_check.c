// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Usage: check-order
//
// Checks the order in which other threads may see the records of carriers. x86_64 keeps stores in order, so a missing
// barrier would only show on a processor that does not. This program records the stores of mounts and unmounts, makes
// them visible in random orders that C11 and the barriers between them allow, and reads the record in the meantime.

#include "check.h"
#include "split.h"

// ---- the writer's stores and the reader's loads

struct access {
    int64_t *address;
    int64_t value;
    int order;
    int barriers;  // before this one
};

enum { MOUNTS = 12, MAX_STORES = 600, MAX_LOADS = 2 * CARRIER_FIELDS, ROUNDS = 20000 };

static struct carrier *record, initial;
static struct access stores[MAX_STORES], loads[MAX_LOADS];
static int store_count, load_count, barriers, is_recording_stores, is_recording_loads;

static void record_store(int64_t *address, int64_t value, int order) {
    __atomic_store(address, &value, __ATOMIC_SEQ_CST);
    if (!is_recording_stores) return;
    CHECK(store_count < MAX_STORES);
    stores[store_count++] = (struct access){address, value, order, barriers};
}

static int64_t record_load(const int64_t *address, int order) {
    int64_t value;
    __atomic_load(address, &value, __ATOMIC_SEQ_CST);
    if (is_recording_loads && address >= (const int64_t *)record && address < (const int64_t *)(record + 1)) {
        CHECK(load_count < MAX_LOADS);
        loads[load_count++] = (struct access){(int64_t *)address, value, order, barriers};
    }
    return value;
}

static void record_barrier(int order) {
    (void)order;
    barriers++;
}

// Only fields of 64 bits are recorded. The macros are not expanded again within themselves.
#define __atomic_store_n(address, value, order)                                                      \
    (sizeof *(address) == 8 ? record_store((int64_t *)(uintptr_t)(address), (int64_t)(value), order) \
                            : __atomic_store_n(address, value, order))
#define __atomic_load_n(address, order)                                                   \
    (sizeof *(address) == 8 ? record_load((const int64_t *)(uintptr_t)(address), order) \
                            : (int64_t)__atomic_load_n(address, order))
#define __atomic_thread_fence(order) record_barrier(order)
#include "carriers.c"
#undef __atomic_store_n
#undef __atomic_load_n
#undef __atomic_thread_fence

const char library_identity[] = "a check";

// ---- what another processor sees

static uint8_t is_visible[MAX_STORES];
static int first_hidden;

static uint32_t random_below(uint32_t limit) {
    static uint64_t state = 88172645463325252;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

// Returns whether a store may become visible although an earlier one is not.
static int may_overtake(const struct access *later, const struct access *earlier) {
    return later->address != earlier->address && later->order == __ATOMIC_RELAXED && later->barriers == earlier->barriers;
}

// Makes one more store visible, if there is one: the next one, or one that may overtake it.
static void advance(void) {
    enum { WINDOW = 24 };
    while (first_hidden < store_count && is_visible[first_hidden]) first_hidden++;
    if (first_hidden == store_count) return;
    int chosen = first_hidden + (int)random_below(WINDOW);
    if (chosen >= store_count || is_visible[chosen]) chosen = first_hidden;
    for (int i = first_hidden; i < chosen; i++)
        if (!is_visible[i] && !may_overtake(&stores[chosen], &stores[i])) chosen = i;
    is_visible[chosen] = 1;
}

static void advance_randomly(void) {
    // An unmount follows a mount at once, so most loads must find nothing new for any to find a mounted thread.
    if (random_below(4)) return;
    for (uint32_t i = random_below(12); i > 0; i--) advance();
}

// Returns the index of the last visible store to this field; -1 if there is none.
static int visible_store(const int64_t *field) {
    int found = -1;
    for (int i = 0; i < store_count; i++)
        if (is_visible[i] && stores[i].address == field) found = i;
    return found;
}

static int64_t value_of(int store, const int64_t *field) {
    return store < 0 ? ((const int64_t *)&initial)[field - (const int64_t *)record] : stores[store].value;
}

static int64_t visible(const int64_t *field) {
    advance_randomly();
    return value_of(visible_store(field), field);
}

static void hide_all(void) {
    memset(is_visible, 0, sizeof is_visible);
    first_hidden = 0;
    for (uint32_t i = random_below((uint32_t)store_count); i > 0; i--) advance();
}

// Returns the index of the last store to this field before the store that gave the sequence this value; -1 if there is
// none.
static int store_before(int64_t sequence, const int64_t *field) {
    int found = -1;
    for (int i = 0; i < store_count; i++) {
        if (stores[i].address == &record->sequence && stores[i].value == sequence) return found;
        if (stores[i].address == field) found = i;
    }
    return -1;
}

// ---- the checks

// Reads as org.taskclock.VirtualThreadClock does, whose loads are in order. If the sequence is odd and has not changed,
// the offsets are those of the mount.
static int check_offsets(void) {
    hide_all();
    int64_t sequence = visible(&record->sequence);
    int64_t cpu = visible(&record->cpu_offset), user = visible(&record->user_offset);
    if (!(sequence & 1) || visible(&record->sequence) != sequence) return 0;
    CHECK(cpu == value_of(store_before(sequence, &record->cpu_offset), &record->cpu_offset));
    CHECK(user == value_of(store_before(sequence, &record->user_offset), &record->user_offset));
    return 1;
}

// Reads as carriers() does: a load may happen before an earlier one that is not an acquire. What was stored before the
// sequence is seen with it.
static int check_copies(void) {
    int seen[MAX_LOADS], is_done[MAX_LOADS] = {0}, sequence_at = -1;
    hide_all();
    for (int done = 0; done < load_count; done++) {
        int next = 0;
        while (is_done[next]) next++;
        int chosen = next + (int)random_below(CARRIER_FIELDS);
        if (chosen >= load_count || is_done[chosen]) chosen = next;
        for (int i = next; i < chosen; i++)
            if (!is_done[i] && loads[i].order != __ATOMIC_RELAXED) chosen = i;
        is_done[chosen] = 1;
        advance_randomly();
        seen[chosen] = visible_store(loads[chosen].address);
    }
    for (int i = 0; i < load_count; i++)
        if (loads[i].address == &record->sequence) sequence_at = i;
    CHECK(sequence_at >= 0);
    int64_t sequence = value_of(seen[sequence_at], &record->sequence);
    int compared = 0;
    for (int i = sequence_at + 1; i < load_count; i++) {
        int before = store_before(sequence, loads[i].address);
        CHECK(seen[i] >= before);
        compared += before >= 0;
    }
    return compared;
}

int main(void) {
    clock_init();
    CHECK(mount(0, 0));
    record = own_clock()->carrier.record;
    unmount();
    initial = *record;
    is_recording_stores = 1;
    for (int i = 1; i <= MOUNTS; i++) {
        CHECK(mount(i * 1000000, i * 100000));
        unmount();
    }
    is_recording_stores = 0;
    is_recording_loads = 1;
    int64_t copy[CARRIER_FIELDS];
    CHECK(carriers(copy, 1) == 1);
    is_recording_loads = 0;
    // The first loads find out whether the record is in use.
    CHECK(store_count > 10 * MOUNTS && load_count >= CARRIER_FIELDS);
    int settled = 0, compared = 0;
    for (int i = 0; i < ROUNDS; i++) {
        settled += check_offsets();
        compared += check_copies();
    }
    CHECK(settled > ROUNDS / 100 && compared > ROUNDS);
    printf("check-order: passed\n");
    return 0;
}
