// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The CPU time of a thread's yields, extrapolated from the few that are measured. On a busy machine a measured yield
// can take many times longer than the others, so the result is limited by the thread's own clock.

#ifndef TASKCLOCK_YIELD_COST_H
#define TASKCLOCK_YIELD_COST_H

#include <stdint.h>

// A thread's state as of its last measured yield.
struct yield_cost {
    int64_t yields;  // how often it had yielded
    int64_t nanos;   // its CPU time after the yield
    int64_t owed;    // extrapolated CPU time that exceeded the thread's own
    int32_t period;  // the period of counting; 0 before the first measured yield
};

// An excess in one measurement usually makes up for a deficit in others, unless all measured yields take too long.
enum { MAX_OWED_FACTOR = 16 };

// Returns the CPU time of the yields since the last measured one: at most the CPU time of the thread since then.
//
// yields: how often the thread has yielded; the last of these was measured from before to after on its clock
// period: changes if yields were not counted for some time, so that the time since the last one is meaningless
static inline int64_t yield_cost(struct yield_cost *last, int64_t yields, int64_t before, int64_t after,
                                 int32_t period) {
    if (last->period != period) *last = (struct yield_cost){yields - 1, before, 0, period};
    int64_t used = after - last->nanos, due = last->owed + (yields - last->yields) * (after - before);
    if (used < 0) used = 0;
    int64_t cost = due < used ? due : used, rest = due - cost;
    last->owed = rest < MAX_OWED_FACTOR * used ? rest : MAX_OWED_FACTOR * used;
    last->yields = yields;
    last->nanos = after;
    return cost;
}

#endif
