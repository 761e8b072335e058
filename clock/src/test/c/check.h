// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// A macro and a function that all C checks use.

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

// Returns the calling thread's CPU time according to the C library.
static inline int64_t reference_cpu_nanos(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#endif
