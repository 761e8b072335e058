// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// How long threads were ready to run but had no processor: the second number of /proc/thread-self/schedstat, which also
// has the thread's CPU time and number of time slices (Documentation/scheduler/sched-stats.rst).
//
// Opening the file takes seven times as long as reading it, so threads keep it open. They cannot close it when they
// end, so the number of files is limited: threads whose ids differ by a multiple of WAIT_FILES share an entry, and the
// first one has it until it ends. The others open the file each time. The kernel reports ESRCH for the file of a thread
// that has ended, even if another thread has its id.

#include "cpu.h"

#include <linux/fcntl.h>

enum { STANDARD_ERROR = 2 };

static struct wait_file *claim_file(int32_t tid) {
    struct wait_file *file = &process.wait_files[(uint32_t)tid % WAIT_FILES];
    return take_slot(&file->tid, tid) ? file : 0;
}

static int replace(struct wait_file *file, int32_t from, int32_t to) {
    return __atomic_compare_exchange_n(&file->fd, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static int keeps_none(void) { return __atomic_load_n(&process.keeps_no_files, __ATOMIC_SEQ_CST); }

// Returns 0 if the caller must close the file. A standard stream that the program has closed is left to it.
static int keep(struct wait_file *file, int32_t fd) {
    if (!file || fd <= STANDARD_ERROR || keeps_none() || !replace(file, 0, fd)) return 0;
    // If keep_wait_files(0) was called meanwhile, one of us closes the file.
    return !keeps_none() || !replace(file, fd, 0);
}

void keep_wait_files(int on) {
    __atomic_store_n(&process.keeps_no_files, !on, __ATOMIC_SEQ_CST);
    for (int i = 0; !on && i < WAIT_FILES; i++) {
        int32_t fd = __atomic_exchange_n(&process.wait_files[i].fd, 0, __ATOMIC_SEQ_CST);
        if (fd) SYSCALL(__NR_close, fd);
    }
}

// Returns -1 if the text is not that of the file. The kernel writes "0 0 0" if it does not count.
static int64_t parse(const char *text, long length) {
    uint64_t numbers[3] = {0};
    for (long i = 0, n = 0; i < length; i++) {
        if (text[i] >= '0' && text[i] <= '9') numbers[n] = numbers[n] * 10 + (uint64_t)(text[i] - '0');
        else if (text[i] != (n < 2 ? ' ' : '\n')) return -1;
        else if (++n == 3) return i == length - 1 && numbers[0] ? (int64_t)numbers[1] : -1;
    }
    return -1;
}

static int64_t open_and_read(struct wait_file *file) {
    char text[100];
    int32_t fd = (int32_t)SYSCALL(__NR_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    long length = SYSCALL(__NR_read, fd, text, sizeof text);
    if (!keep(file, fd)) SYSCALL(__NR_close, fd);
    return parse(text, length);
}

int64_t wait_nanos(void) {
    char text[100];
    struct thread_clock *t = own_clock();
    // A forked child finds zeros instead of the entries of its parent.
    if (!t->wait_file || !READ(t->wait_file->tid)) t->wait_file = claim_file(own_tid());
    struct wait_file *file = t->wait_file;
    int32_t fd = file ? READ(file->fd) : 0;
    if (!fd) return open_and_read(file);
    long length = SYSCALL(__NR_pread64, fd, text, sizeof text, 0);
    int64_t nanos = parse(text, length);
    // If the file was closed, other code may have opened a file with this number.
    if (nanos >= 0 && __atomic_load_n(&file->fd, __ATOMIC_SEQ_CST) == fd) return nanos;
    if (replace(file, fd, 0) && length == -ESRCH) SYSCALL(__NR_close, fd);
    return open_and_read(file);
}
