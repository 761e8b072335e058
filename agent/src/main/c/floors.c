// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The table of floors, by Java thread id. An id has its place in one small bucket, so that neither a search nor a claim
// takes a lock. A program with so many live threads that a bucket is full has no floors for some of them.

#include "floors.h"

#include <linux/mman.h>

enum { BUCKETS = 8192, BUCKET = 8, RECORDS = BUCKETS * BUCKET, MAX_TRIES = 16, MAX_CHECKS = 16 };

static const int64_t CLAIMED = INT64_MIN;

_Static_assert(sizeof(struct floors) == 64, "one cache line per record");

static struct floors *records;  // RECORDS of them; untouched ones take no memory

const char *floors_prepare(void) {
    if (records) return 0;
    long memory = SYSCALL(__NR_mmap, 0, RECORDS * sizeof *records, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (failed(memory)) return "no memory for the threads' last times";
    records = (struct floors *)memory;
    return 0;
}

static struct floors *bucket_of(int64_t id) { return records + (uint64_t)id % BUCKETS * BUCKET; }

static int64_t id_of(const struct floors *f) { return __atomic_load_n(&f->id, __ATOMIC_ACQUIRE); }

// Returns another record of the bucket with this id.
static struct floors *find(int64_t id, const struct floors *except) {
    struct floors *bucket = bucket_of(id < 0 ? -id : id);
    for (int i = 0; i < BUCKET; i++)
        if (bucket + i != except && id_of(bucket + i) == id) return bucket + i;
    return 0;
}

struct floors *floors_find(int64_t id) { return id > 0 ? find(id, 0) : 0; }

static int is_dead(const struct floors *f, int64_t id, void *env, has_ended *ended) {
    // A kernel thread can be one Java thread after another, and keeps its record until it ends.
    int32_t tid = READ(f->tid);
    return id > 0 && ended(env, id) && (!tid || thread_is_gone(tid));
}

static int take(struct floors *f, int64_t before) {
    if (!__atomic_compare_exchange_n(&f->id, &before, CLAIMED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return 0;
    WRITE(f->tid, 0);
    WRITE(f->generation, 0);
    WRITE(f->cpu, 0);
    WRITE(f->jvm, 0);
    WRITE(f->own, 0);
    WRITE(f->other, 0);
    return 1;
}

struct floors *floors_claim(int64_t id, void *env, has_ended *ended) {
    struct floors *bucket = bucket_of(id);
    for (int try = 0; try < MAX_TRIES && id > 0; try++) {
        struct floors *f = find(id, 0);
        if (f) return f;
        for (int i = 0; i < BUCKET && !f; i++)
            if (id_of(bucket + i) == 0 && take(bucket + i, 0)) f = bucket + i;
        for (int i = 0; i < BUCKET && !f; i++) {
            int64_t old = id_of(bucket + i);
            if (is_dead(bucket + i, old, env, ended) && take(bucket + i, old)) f = bucket + i;
        }
        if (!f) return 0;
        // Threads may claim a record for the same id at the same time. The negated id shows this to the others, and at
        // least one of two finds the other. Nobody uses the record before it has the id.
        __atomic_store_n(&f->id, -id, __ATOMIC_SEQ_CST);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        int is_only = !find(id, f) && !find(-id, f);
        __atomic_store_n(&f->id, is_only ? id : 0, __ATOMIC_RELEASE);
        if (is_only) return f;
        SYSCALL(__NR_sched_yield);
    }
    return 0;
}

int64_t floors_highest_user(const struct floors *f) {
    int64_t jvm = READ(f->jvm), own = READ(f->own), other = READ(f->other), highest = jvm > own ? jvm : own;
    return highest > other ? highest : other;
}

void floors_raise(int64_t *floor, int64_t nanos) {
    int64_t before = READ(*floor);
    while (before < nanos && !__atomic_compare_exchange_n(floor, &before, nanos, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

int floors_all_passed(int32_t *next, void *env, has_passed *passed) {
    for (int checks = 0; *next < RECORDS; ++*next) {
        const struct floors *f = records + *next;
        int64_t id = id_of(f);
        if (id > 0 && (checks++ == MAX_CHECKS || !passed(env, id, f))) return 0;
    }
    return 1;
}
