// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// One state per process. The first copy of the library maps a page that holds its table of functions under a name that
// /proc/self/maps shows; a later copy finds the page there and uses that table, so that all copies read and steer the
// same per-thread state. The code stays mapped when the first copy's class loader goes (-z nodelete).

#include "taskclock.h"

#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/mman.h>

#define NAME "taskclock-abi1"
#define MAPPED_NAME "/memfd:" NAME " "

enum { PAGE = 4096 };

struct lines {
    long fd;
    int length, next;
    char text[PAGE];
};

// The next line without its newline, or null at the end. What does not fit the buffer is dropped: ours does.
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

static int contains(const char *text, const char *part) {
    for (; *text; text++) {
        int i = 0;
        while (part[i] && text[i] == part[i]) i++;
        if (!part[i]) return 1;
    }
    return 0;
}

static uint64_t hexadecimal(const char *text) {
    uint64_t value = 0;
    for (;; text++) {
        if (*text >= '0' && *text <= '9')
            value = value << 4 | (uint64_t)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            value = value << 4 | (uint64_t)(*text - 'a' + 10);
        else
            return value;
    }
}

const struct functions *find_shared_functions(void) {
    struct lines in;
    in.length = in.next = 0;
    in.fd = SYSCALL(__NR_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (in.fd < 0) return 0;
    const struct functions *found = 0;
    for (char *line = next_line(&in); line && !found; line = next_line(&in)) {
        if (!contains(line, MAPPED_NAME)) continue;
        const struct functions *page = (const struct functions *)hexadecimal(line);
        if (page->magic == TASKCLOCK_MAGIC && page->abi == TASKCLOCK_ABI && page->size >= sizeof *page) found = page;
    }
    SYSCALL(__NR_close, in.fd);
    return found;
}

// Private, so that a forked child has its own; read-only once written.
static const struct functions *publish_page(const struct functions *own, int *error) {
    long fd = SYSCALL(__NR_memfd_create, NAME, MFD_CLOEXEC);
    long page = fd;
    if (fd >= 0) {
        page = SYSCALL(__NR_ftruncate, fd, PAGE);
        if (page == 0) page = SYSCALL(__NR_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        SYSCALL(__NR_close, fd);
    }
    if (page < 0 && page > -PAGE) {
        *error = (int)-page;
        return own;
    }
    *(struct functions *)page = *own;
    SYSCALL(__NR_mprotect, page, PAGE, PROT_READ);
    return (const struct functions *)page;
}

// Two copies that come at the same moment would not see each other. So they take turns: Library holds a lock for it that
// is the same for all of them.
const struct functions *shared_functions(const struct functions *own, int *error) {
    const struct functions *found = find_shared_functions();
    return found ? found : publish_page(own, error);
}
