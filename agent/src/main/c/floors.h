// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What a thread's ThreadMXBean times must not fall below: what the JVM said before the agent, and what the agent said.
// The JVM's own times and the agent's are measured in different ways, so without floors they would go backwards when
// the agent comes and goes.

#ifndef TASKCLOCK_FLOORS_H
#define TASKCLOCK_FLOORS_H

#include "shared.h"

enum { CPU_TIME, USER_TIME, TIMES };

// One thread's floors. The record of a live thread is never given to another one.
struct floors {
    int64_t id;                 // the Java id; 0: free, negative: being claimed
    int32_t tid;                // the kernel's id; 0 if the thread has not read itself
    int32_t generation[TIMES];  // when `jvm` was determined; see times.c
    int64_t jvm[TIMES];         // at least what the JVM had said before the agent
    int64_t own[TIMES];         // what the agent last told the thread of itself; only the thread writes it
    int64_t other_user;         // what the agent told other threads; their CPU time is the JVM's, or `own`
};

// Returns what the JVM says of the thread with this Java id; -1 if there is none.
typedef int64_t jvm_time(void *env, int time, int64_t id);

const char *floors_prepare(void);                                   // returns a message, or null on success
void floors_discard(void);                                          // sets all to 0
struct floors *floors_find(int64_t id);                             // null if there are none
struct floors *floors_claim(int64_t id, void *env, jvm_time *jvm);  // null if there is no room
int64_t floor_of(const struct floors *f, int time);                 // the highest of all
void raise_floor(int64_t *floor, int64_t nanos);
// Checks the next record that is in use, from number *next on. Returns whether the JVM's own times have reached its
// floors. Sets *next to 0 after the last record.
int floors_passed(int32_t *next, void *env, jvm_time *jvm);

#endif
