// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Includes the sources that keep state, so that a check can read and replace that state.

#ifndef TASKCLOCK_BACKENDS_H
#define TASKCLOCK_BACKENDS_H

#include "check.h"

#include "calibration.c"
#include "accuracy.c"
#include "cpu.c"
// A check can define AT_ACCESS to run code at each access to state that other threads or signal handlers share.
#ifdef AT_ACCESS
#undef READ
#undef WRITE
#define READ(variable) (AT_ACCESS(), __atomic_load_n(&(variable), __ATOMIC_RELAXED))
#define WRITE(variable, value) (AT_ACCESS(), __atomic_store_n(&(variable), value, __ATOMIC_RELAXED))
#endif
#include "split.c"
#include "slots.c"
#include "readings.c"
#ifdef AT_ACCESS
#undef READ
#undef WRITE
#define READ(variable) __atomic_load_n(&(variable), __ATOMIC_RELAXED)
#define WRITE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELAXED)
#endif
#include "carriers.c"
#include "maps.c"
#include "rseq_users.c"
#include "rseq.c"
#include "context.c"
#include "clock.c"

const char library_identity[] = "a check";

// Returns the backend named by the program's only argument.
static inline int parse_backend(int count, char **arguments) {
    static const char *const names[BACKENDS] = {0, "rseq", "rseq-own", "rseq-take"};
    CHECK(count == 2);
    int backend = BACKENDS - 1;
    while (backend && strcmp(arguments[1], names[backend])) backend--;
    CHECK(backend);
    return backend;
}

static const char *probe_failure_text(int32_t probe_result) {
    switch (probe_result) {
        case PROBE_COUNTER_UNRELIABLE: return "the time-stamp counter is not steady";
        case PROBE_COUNTER_FORBIDDEN: return "the time-stamp counter cannot be read";
        case PROBE_LIBC_UNREGISTERED: return "the C library did not register an rseq area";
        case PROBE_LIBC_REGISTERED: return "the C library registered its own rseq area";
        case PROBE_REGISTRATION_REFUSED: return "the kernel rejected the rseq area";
        case PROBE_NO_CHILD: return "the child process could not be started";
        case PROBE_CANNOT_PIN: return "sched_setaffinity is not permitted";
        case PROBE_CHILD_DIED: return "the kernel kills processes that set the marker";
        case PROBE_KEPT_BY_BLOCKING: return "the kernel keeps the marker when a thread blocks";
        case PROBE_KEPT_BY_PREEMPTION: return "the kernel keeps the marker when a thread is preempted";
        case PROBE_NOT_PREEMPTED: return "the test thread was never preempted";
        case PROBE_CLEARED_BY_SYSCALLS: return "the kernel removes the marker at each system call";
        case PROBE_NO_RATE: return "the counter's rate did not settle";
        case PROBE_COUNTER_SLOW: return "reading the counter takes longer than asking the kernel";
        case PROBE_RSEQ_USED: return rseq_user();
        case PROBE_OTHER_MARKER: return "another marker is in use";
        case PROBE_LIBC_AREA: return "the length of the C library's area is unknown";
        default: return "out of memory";
    }
}

#endif
