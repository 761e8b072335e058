// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

#ifndef TASKCLOCK_SPLIT_H
#define TASKCLOCK_SPLIT_H

#include "cpu.h"

int measure_split(struct thread_clock *t);
void split(struct thread_clock *t, uint64_t cpu);
int read_clock(struct thread_clock *t);

#endif
