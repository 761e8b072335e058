// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Reads /proc/self/maps.

#include "maps.h"

#include <linux/fcntl.h>

int open_maps(struct lines *in) {
    in->length = in->next = 0;
    in->fd = SYSCALL(__NR_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    return in->fd >= 0;
}

// Returns the next line without its newline, or null at the end. Lines longer than the buffer are dropped; ours is
// shorter.
static char *next_line(struct lines *in) {
    for (;;) {
        for (int i = in->next; i < in->length; i++) {
            if (in->text[i] != '\n') continue;
            char *line = in->text + in->next;
            in->text[i] = 0;
            in->next = i + 1;
            return line;
        }
        int kept = in->length - in->next;
        if (kept >= PAGE - 1) kept = 0;
        for (int i = 0; i < kept; i++) in->text[i] = in->text[in->next + i];
        long got = SYSCALL(__NR_read, in->fd, in->text + kept, PAGE - 1 - kept);
        in->next = 0;
        in->length = kept + (int)(got > 0 ? got : 0);
        if (got <= 0) return 0;
    }
}

static uint64_t number(char **text, uint64_t base) {
    uint64_t value = 0;
    for (;; (*text)++) {
        char c = **text;
        if (c >= '0' && c <= '9') value = value * base + (uint64_t)(c - '0');
        else if (base == 16 && c >= 'a' && c <= 'f') value = value * base + (uint64_t)(c - 'a' + 10);
        else return value;
    }
}

// Returns the next field and replaces the space that ends it with 0.
static const char *field(char **text) {
    while (**text == ' ') (*text)++;
    const char *start = *text;
    while (**text && **text != ' ') (*text)++;
    if (**text) *(*text)++ = 0;
    return start;
}

// Parses a line: START-END PERMISSIONS OFFSET DEVICE INODE PATH (proc_pid_maps(5)). The path may contain spaces.
int next_mapping(struct lines *in, struct mapping *m) {
    char *text = next_line(in);
    if (!text) return 0;
    m->start = number(&text, 16);
    if (*text == '-') text++;
    m->end = number(&text, 16);
    m->permissions = field(&text);
    while (*text == ' ') text++;
    m->offset = number(&text, 16);
    m->device = field(&text);
    while (*text == ' ') text++;
    m->inode = number(&text, 10);
    while (*text == ' ') text++;
    m->path = text;
    return 1;
}

void close_maps(struct lines *in) { SYSCALL(__NR_close, in->fd); }
