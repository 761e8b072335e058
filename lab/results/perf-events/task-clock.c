// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Shows what perf events say of the user and system time of a thread whose time in user mode is known.
// Build: cc -O1 task-clock.c

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int open_event(const char *name, uint32_t type, uint64_t config, int kernel, int user) {
    struct perf_event_attr attributes = {.size = sizeof attributes, .type = type, .config = config};
    attributes.exclude_kernel = !kernel;
    attributes.exclude_user = !user;
    attributes.exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) printf("%s: %s\n", name, strerror(errno));
    return fd;
}

static void print_event(const char *name, int fd) {
    uint64_t value;
    if (fd >= 0 && read(fd, &value, sizeof value) == sizeof value) printf("%s: %.3f million\n", name, (double)value / 1e6);
}

static double millis(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(void) {
    static char buffer[65536];
    int all = open_event("task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1, 1);
    int user = open_event("task-clock:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, 1);
    int kernel = open_event("task-clock:k", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1, 0);
    int user_cycles = open_event("cycles:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 1);
    int kernel_cycles = open_event("cycles:k", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1, 0);
    int zero = open("/dev/zero", O_RDONLY);
    double computing = 0, end = millis(CLOCK_MONOTONIC) + 1000;
    while (millis(CLOCK_MONOTONIC) < end) {
        double start = millis(CLOCK_MONOTONIC);
        for (volatile int i = 0; i < 200000; i++) {}
        computing += millis(CLOCK_MONOTONIC) - start;
        for (int i = 0; i < 100; i++)
            if (read(zero, buffer, sizeof buffer) < 0) return 1;
    }
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    printf("CPU time %.3f ms, of which %.3f ms were measured in user mode\n", millis(CLOCK_THREAD_CPUTIME_ID), computing);
    printf("getrusage: user %.3f ms, system %.3f ms\n",
           (double)usage.ru_utime.tv_sec * 1e3 + (double)usage.ru_utime.tv_usec / 1e3,
           (double)usage.ru_stime.tv_sec * 1e3 + (double)usage.ru_stime.tv_usec / 1e3);
    print_event("task-clock, ns", all);
    print_event("task-clock:u, ns", user);
    print_event("task-clock:k, ns", kernel);
    print_event("cycles:u", user_cycles);
    print_event("cycles:k", kernel_cycles);
    return 0;
}
