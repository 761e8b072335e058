// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What a thread's times must not fall below. The JVM measures user time in another way than the clock, so it would go
// backwards when the agent is attached or detached. The CPU time that a thread reads for itself can be slightly ahead
// of the kernel's clock, which other threads read.

#ifndef TASKCLOCK_FLOORS_H
#define TASKCLOCK_FLOORS_H

#include "shared.h"

// The floors of one thread. The record of a live thread is never given to another one.
struct floors {
    int64_t id;          // the Java id; 0: free, negative: being claimed
    int32_t tid;         // the kernel's id; 0 if the thread has not read its own times
    int32_t generation;  // the installation for which `jvm` was determined; see times.c
    int64_t cpu;         // the last CPU time that the thread read for itself; only the thread writes it
    // User times.
    int64_t jvm;    // at least the JVM's answers before the agent
    int64_t own;    // the last one that the thread read for itself; only the thread writes it
    int64_t other;  // the highest one that other threads read
    int64_t padding[2];
};

// Returns whether the JVM no longer has a thread with this Java id.
typedef int has_ended(void *env, int64_t id);
// Returns whether the JVM's times have passed all floors of the thread.
typedef int has_passed(void *env, int64_t id, const struct floors *f);

const char *floors_prepare(void);        // returns a message, or null on success
struct floors *floors_find(int64_t id);  // null if there are none
// Returns the thread's floors, new ones if there are none; null if there is no room.
struct floors *floors_claim(int64_t id, void *env, has_ended *ended);
int64_t floors_highest_user(const struct floors *f);
void floors_raise(int64_t *floor, int64_t nanos);
// Returns whether the floors of all threads from *next on have been passed, and advances *next past those that have.
// Checks a few threads only, so that it takes little time.
int floors_all_passed(int32_t *next, void *env, has_passed *passed);

#endif
