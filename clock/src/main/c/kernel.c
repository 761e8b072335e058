// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// System calls.

#include "taskclock.h"

#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/stat.h>
#include <linux/time_types.h>

// struct rusage of linux/resource.h, with the unused fields combined.
enum { THREAD_ONLY = 1 };  // RUSAGE_THREAD
struct usage {
    int64_t user_seconds, user_micros, system_seconds, system_micros, others[12];
    int64_t voluntary_switches, involuntary_switches;
};

int64_t clock_nanos(int32_t id) {
    struct __kernel_timespec t;
    if (SYSCALL(__NR_clock_gettime, id, &t) != 0) return -1;
    return t.tv_sec * NANOS_PER_SECOND + t.tv_nsec;
}

// The library's function makes no system call for this clock (vdso(7)), and takes 6 ns instead of 200.
extern int libc_clock_gettime(int32_t id, struct __kernel_timespec *t) __asm__("clock_gettime") __attribute__((weak));

int64_t coarse_nanos(void) {
    enum { MONOTONIC_COARSE = 6 };  // CLOCK_MONOTONIC_COARSE
    struct __kernel_timespec t;
    if (!libc_clock_gettime) return clock_nanos(MONOTONIC_COARSE);
    return libc_clock_gettime(MONOTONIC_COARSE, &t) == 0 ? t.tv_sec * NANOS_PER_SECOND + t.tv_nsec : -1;
}

int64_t raw_clock_nanos(void) { return clock_nanos(4); }  // CLOCK_MONOTONIC_RAW

int64_t clock_resolution(int32_t id) {
    struct __kernel_timespec t;
    if (SYSCALL(__NR_clock_getres, id, &t) != 0) return -1;
    return t.tv_sec * NANOS_PER_SECOND + t.tv_nsec;
}

long rusage_of_thread(int64_t *user, int64_t *system) {
    struct usage u;
    long result = SYSCALL(__NR_getrusage, THREAD_ONLY, &u);
    if (result != 0) return result;
    *user = u.user_seconds * NANOS_PER_SECOND + u.user_micros * 1000;
    *system = u.system_seconds * NANOS_PER_SECOND + u.system_micros * 1000;
    return 0;
}

int64_t switches_of_thread(void) {
    struct usage u;
    return SYSCALL(__NR_getrusage, THREAD_ONLY, &u) == 0 ? u.voluntary_switches + u.involuntary_switches : -1;
}

int kernel_refusal(void) {
    struct __kernel_timespec t;
    int64_t user, system;
    long result = SYSCALL(__NR_clock_gettime, OWN_SCHED, &t);
    return (int)-(result != 0 ? result : rusage_of_thread(&user, &system));
}

long read_file(const char *path, char *text, long length) {
    long fd = SYSCALL(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    long got = SYSCALL(__NR_read, fd, text, length);
    SYSCALL(__NR_close, fd);
    return got > 0 ? got : 0;
}

int32_t own_tid(void) { return (int32_t)SYSCALL(__NR_gettid); }

void *map_pages(long length) {
    long memory = SYSCALL(__NR_mmap, 0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return failed(memory) ? 0 : (void *)memory;
}

struct directory_entry {  // struct linux_dirent64 of getdents64(2)
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

// Lists the ids of all threads of this process, oldest first, in the order of /proc. Returns the number of threads,
// which may be more than fit, or -errno.
int32_t list_threads(int32_t *tids, int32_t capacity) {
    char buffer[8192] __attribute__((aligned(8)));
    long fd = SYSCALL(__NR_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return (int32_t)fd;
    int32_t count = 0;
    long length;
    while ((length = SYSCALL(__NR_getdents64, fd, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < length;) {
            const struct directory_entry *e = (const struct directory_entry *)(buffer + at);
            at += e->length;
            if (e->name[0] < '0' || e->name[0] > '9') continue;
            int32_t tid = 0;
            for (const char *c = e->name; *c; c++) tid = tid * 10 + (*c - '0');
            if (count < capacity) tids[count] = tid;
            count++;
        }
    }
    SYSCALL(__NR_close, fd);
    return length < 0 ? (int32_t)length : count;
}

// The kernel adds the number of threads to the two links of every directory (proc_task_getattr in fs/proc/base.c).
int32_t count_threads(void) {
    struct statx task;
    long error = SYSCALL(__NR_statx, AT_FDCWD, "/proc/self/task", 0, STATX_NLINK, &task);
    return error ? -1 : (int32_t)task.stx_nlink - 2;
}

// Measures `count` system calls that read clock `id`, each in a function call: the lower bound for every reader that
// asks the kernel. A loop of inlined system calls would be misleading: if the kernel protects its returns (AMD's Safe
// RET), the first return after a system call costs half as much as the call itself, and every reader needs one.
int64_t raw_nanos(int32_t id, int32_t count) {
    struct __kernel_timespec start, end;
    int64_t (*volatile read)(int32_t) = clock_nanos;
    int64_t failed = 0;
    SYSCALL(__NR_clock_gettime, 1, &start);  // CLOCK_MONOTONIC
    for (int32_t i = 0; i < count; i++) failed |= read(id);
    SYSCALL(__NR_clock_gettime, 1, &end);
    if (failed < 0) return -1;
    return (end.tv_sec - start.tv_sec) * NANOS_PER_SECOND + end.tv_nsec - start.tv_nsec;
}
