// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The checks that see inside: what keeps state becomes part of them.

#ifndef TASKCLOCK_RUNGS_H
#define TASKCLOCK_RUNGS_H

#include "check.h"

#include "calibration.c"
#include "accuracy.c"
#include "cpu.c"
// A check can have something happen at each access to what is shared, with other threads or with a signal's handler.
#ifdef AT_ACCESS
#undef READ
#undef WRITE
#define READ(variable) (AT_ACCESS(), __atomic_load_n(&(variable), __ATOMIC_RELAXED))
#define WRITE(variable, value) (AT_ACCESS(), __atomic_store_n(&(variable), value, __ATOMIC_RELAXED))
#endif
#include "split.c"
#include "slots.c"
#ifdef AT_ACCESS
#undef READ
#undef WRITE
#define READ(variable) __atomic_load_n(&(variable), __ATOMIC_RELAXED)
#define WRITE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELAXED)
#endif
#include "carriers.c"
#include "rseq.c"
#include "clock.c"

const char library_identity[] = "a check";

// Of a program that is called with the name of a rung.
static int named_rung(int count, char **arguments) {
    CHECK(count == 2);
    int own = !strcmp(arguments[1], "rseq-own");
    CHECK(own || !strcmp(arguments[1], "rseq"));
    return own ? RUNG_RSEQ_OWN : RUNG_RSEQ;
}

static const char *reason(int32_t refusal) {
    switch (refusal) {
        case PROBE_COUNTER: return "the time-stamp counter is not steady here";
        case PROBE_COUNTER_FORBIDDEN: return "the time-stamp counter may not be read here";
        case PROBE_LIBC_DOES_NOT: return "this C library has registered no area";
        case PROBE_LIBC_DOES: return "this C library has registered its own area";
        case PROBE_NOT_REGISTERED: return "the kernel takes no area";
        case PROBE_NO_CHILD: return "no child process can be started";
        case PROBE_CANNOT_PIN: return "sched_setaffinity is not permitted";
        case PROBE_CHILD_DIED: return "this kernel kills for the marker";
        case PROBE_KEPT_BLOCKED: return "this kernel keeps the marker of a thread that blocks";
        case PROBE_KEPT_PREEMPTED: return "this kernel keeps the marker of a thread that is preempted";
        case PROBE_NOT_PREEMPTED: return "no thread was preempted";
        case PROBE_LOST: return "this kernel removes the marker at each system call";
        case PROBE_NO_RATE: return "the counter's rate does not settle";
        default: return "there is no memory for it";
    }
}

#endif
