// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What the checks in C have in common.

#ifndef TASKCLOCK_CHECK_H
#define TASKCLOCK_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                             \
    do                                                                               \
        if (!(condition)) {                                                          \
            fflush(stdout);                                                          \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);  \
            _exit(1);                                                                \
        }                                                                            \
    while (0)

// The calling thread's CPU time as the C library tells it.
static inline int64_t reference(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#endif
