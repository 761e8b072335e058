// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

#ifndef TASKCLOCK_MAPS_H
#define TASKCLOCK_MAPS_H

#include "shared.h"

struct mapping {
    uint64_t start, end, offset, inode;
    const char *permissions, *device, *path;  // these point into the line
};

struct lines {
    long fd;
    int length, next;
    char text[PAGE];
};

int open_maps(struct lines *in);  // 0 if the file cannot be opened
// Returns 0 after the last one. Overwrites the strings of the previous one.
int next_mapping(struct lines *in, struct mapping *into);
void close_maps(struct lines *in);

#endif
