// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The checks that see inside: clock.c and rseq.c become part of them.

#ifndef TASKCLOCK_RUNGS_H
#define TASKCLOCK_RUNGS_H

#include "check.h"

#include "rseq.c"

#include "clock.c"

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
        case PROBE_LIBC_DOES_NOT: return "this C library has registered no area";
        case PROBE_LIBC_DOES: return "this C library has registered its own area";
        case PROBE_NOT_REGISTERED: return "the kernel takes no area";
        case PROBE_CANNOT_PIN: return "sched_setaffinity is not permitted";
        case PROBE_MARKER_KEPT: return "this kernel keeps the marker of a thread that blocks";
        default: return "there is no memory for it";
    }
}

#endif
