// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// How often is a section that begins right after a wake-up interrupted, and how much CPU time has the thread used since
// it was switched in? Usage: wake-ups THREADS. Build: cc -O2 wake-ups.c -lpthread

#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { LENGTHS = 4, SECTIONS = 2000 };
static const int64_t lengths[LENGTHS] = {5000, 20000, 50000, 200000};  // ns
static long interrupted[LENGTHS], sections[LENGTHS];

static int64_t nanos(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void *work(void *unused) {
    for (int i = 0; i < SECTIONS * LENGTHS; i++) {
        struct timespec pause = {0, 300000};
        nanosleep(&pause, 0);
        long before = switches();
        int64_t end = nanos(CLOCK_THREAD_CPUTIME_ID) + lengths[i % LENGTHS];
        while (nanos(CLOCK_THREAD_CPUTIME_ID) < end) {}
        __atomic_fetch_add(&interrupted[i % LENGTHS], switches() != before, __ATOMIC_RELAXED);
        __atomic_fetch_add(&sections[i % LENGTHS], 1, __ATOMIC_RELAXED);
    }
    return unused;
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 1;
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++) pthread_create(&ids[i], 0, work, 0);
    for (int i = 0; i < threads; i++) pthread_join(ids[i], 0);
    for (int i = 0; i < LENGTHS; i++)
        printf("%d threads, sections of %ld us: %.2f %% of %ld interrupted\n", threads, (long)lengths[i] / 1000,
               100.0 * (double)interrupted[i] / (double)sections[i], sections[i]);
    return 0;
}
