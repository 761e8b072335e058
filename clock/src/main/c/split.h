// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

#ifndef TASKCLOCK_SPLIT_H
#define TASKCLOCK_SPLIT_H

#include "cpu.h"

int measure_split(struct thread_clock *t);
int update_split(struct thread_clock *t);
void split(const struct thread_clock *t, struct times *times, uint64_t cpu);
int read_clock(struct thread_clock *t);

#endif
