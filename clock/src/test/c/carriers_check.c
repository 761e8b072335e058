// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Usage: check-carriers rseq|rseq-own|rseq-take
//
// Compares the CPU time of each mount with the kernel's, on carriers that are switched out in some mounts and between
// them, as in a server. Prints how far both differ.

#include "taskclock.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel.c"
#include "backends.h"

enum { CARRIERS = 2 };

// What one carrier does.
struct load {
    const char *name;
    int mounts;
    int64_t mounted_nanos, own_nanos;            // the longest CPU time of a mount, and of the work before it
    int mounted_sleep_percent, own_sleep_percent;  // how often the thread is switched out in it
    int64_t sleep_nanos;
};

struct result {
    int64_t mounts, interrupted, questions, splits;
    int64_t used, least, most;                 // as we say, and the kernel's bounds
    int64_t clean_error, interrupted_error;    // sums of differences from the nearer bound
    int64_t largest_clean_error, largest_error;
    int64_t total, kernel_total;  // of the carrier
    const struct load *load;
    uint32_t seed;
};

static uint32_t random_below(uint32_t *state, uint32_t limit) {
    *state = *state * 1664525 + 1013904223;
    return limit ? (uint32_t)(((uint64_t)*state * limit) >> 32) : 0;
}

static void spin(int64_t nanos) {
    uint64_t start = counter();
    while (nanos_between(start, counter()) < nanos) {}
}

static void work(uint32_t *seed, int64_t nanos, int sleep_percent, int64_t sleep_nanos) {
    spin(random_below(seed, (uint32_t)nanos));
    if ((int)random_below(seed, 100) >= sleep_percent) return;
    struct timespec time = {0, sleep_nanos};
    nanosleep(&time, 0);
    spin(random_below(seed, (uint32_t)nanos));
}

static void *carry(void *argument) {
    struct result *r = argument;
    const struct load *load = r->load;
    uint32_t seed = r->seed;
    own_functions.mount(0, 0);
    own_functions.unmount();
    int64_t first = reference_cpu_nanos(), first_total = (int64_t)own_clock()->carrier.times.cpu;
    for (int i = 0; i < load->mounts; i++) {
        work(&seed, load->own_nanos, load->own_sleep_percent, load->sleep_nanos);
        int64_t switches = switches_of_thread(), before = reference_cpu_nanos();
        own_functions.mount(0, 0);
        int64_t start = reference_cpu_nanos();
        work(&seed, load->mounted_nanos, load->mounted_sleep_percent, load->sleep_nanos);
        int64_t end = reference_cpu_nanos(), used = own_functions.unmount(), after = reference_cpu_nanos();
        int64_t least = end - start, most = after - before;
        int64_t error = used < least ? least - used : used > most ? used - most : 0;
        int is_interrupted = switches_of_thread() != switches;
        r->mounts++;
        r->interrupted += is_interrupted;
        r->used += used, r->least += least, r->most += most;
        if (is_interrupted) r->interrupted_error += error;
        else r->clean_error += error;
        int64_t *largest = is_interrupted ? &r->largest_error : &r->largest_clean_error;
        if (error > *largest) *largest = error;
    }
    r->total = (int64_t)own_clock()->carrier.times.cpu - first_total;
    r->kernel_total = reference_cpu_nanos() - first;
    r->questions = own_clock()->carrier.record->questions;
    r->splits = own_clock()->carrier.record->splits;
    return 0;
}

static double percent(int64_t part, int64_t whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }

static void check_load(const struct load *load) {
    struct result results[CARRIERS] = {0}, all = {0};
    pthread_t threads[CARRIERS];
    for (int i = 0; i < CARRIERS; i++) {
        results[i].load = load;
        results[i].seed = (uint32_t)i + 1;
        CHECK(pthread_create(&threads[i], 0, carry, &results[i]) == 0);
    }
    for (int i = 0; i < CARRIERS; i++) {
        pthread_join(threads[i], 0);
        struct result *r = &results[i];
        all.mounts += r->mounts, all.interrupted += r->interrupted;
        all.questions += r->questions, all.splits += r->splits;
        all.used += r->used, all.least += r->least, all.most += r->most;
        all.clean_error += r->clean_error, all.interrupted_error += r->interrupted_error;
        if (r->largest_error > all.largest_error) all.largest_error = r->largest_error;
        if (r->largest_clean_error > all.largest_clean_error) all.largest_clean_error = r->largest_clean_error;
        all.total += r->total, all.kernel_total += r->kernel_total;
    }
    int64_t clean = all.mounts - all.interrupted;
    printf("%s: %.1f %% of %ld mounts interrupted; per 1,000 mounts: %.1f questions, %.1f splits\n", load->name,
           percent(all.interrupted, all.mounts), (long)all.mounts, 1e3 * (double)all.questions / (double)all.mounts,
           1e3 * (double)all.splits / (double)all.mounts);
    printf("    sum of mounts %.3f ms, kernel %.3f to %.3f; carrier %+.3f %%\n", (double)all.used / 1e6,
           (double)all.least / 1e6, (double)all.most / 1e6, percent(all.total - all.kernel_total, all.kernel_total));
    printf("    error in us: clean mean %.3f max %.1f; interrupted mean %.3f max %.1f\n",
           clean ? (double)all.clean_error / (double)clean / 1e3 : 0, (double)all.largest_clean_error / 1e3,
           all.interrupted ? (double)all.interrupted_error / (double)all.interrupted / 1e3 : 0,
           (double)all.largest_error / 1e3);
    // The sums agree within 1 %.
    CHECK(all.used >= all.least - all.least / 100 && all.used <= all.most + all.most / 100);
    int64_t difference = all.total - all.kernel_total;
    CHECK((uint64_t)(difference < 0 ? -difference : difference) < (uint64_t)all.kernel_total / 100);
}

// Mounts, uses a few ms of CPU time with pauses, and returns by how much the unmount is wrong.
static int64_t mount_error(void) {
    own_functions.mount(0, 0);
    int64_t start = reference_cpu_nanos(), now;
    struct timespec pause = {0, 100000};
    do {
        int64_t from = reference_cpu_nanos();
        while (reference_cpu_nanos() - from < 400000) {}
        nanosleep(&pause, 0);
        now = reference_cpu_nanos() - start;
    } while (now < 5000000);
    return own_functions.unmount() - now;
}

static int is_right(int64_t error) { return error > -500000 && error < 500000; }

// Without a marker or a rate, the kernel is asked each time. A reading of the carrier itself sets the marker again.
static void check_states(int backend) {
    for (int i = 0; i < 3; i++) CHECK(is_right(mount_error()));
    own_functions.mount(0, 0);
    int64_t start = reference_cpu_nanos();
    struct timespec pause = {0, 1000000};  // shorter than the life of a base
    nanosleep(&pause, 0);
    own_functions.cpuNanos();
    CHECK(is_right(own_functions.unmount() - (reference_cpu_nanos() - start)));
    own_functions.selectBackend(BACKEND_OFF);
    for (int i = 0; i < 3; i++) CHECK(is_right(mount_error()));
    own_functions.selectBackend(BACKEND_ON);
    CHECK(own_functions.selectBackend(backend) == 0);
    own_functions.machineChanged();
    for (int i = 0; i < 3; i++) CHECK(is_right(mount_error()));
    own_functions.mount(0, 0);
    own_functions.virtualNanos(VIRTUAL_CPU);
    process.life = UINT64_MAX >> 8;  // as before a restore
    for (int i = 0; i < 3; i++) CHECK(is_right(mount_error()));
}

int main(int count, char **arguments) {
    int backend = parse_backend(count, arguments);
    clock_init();
    int32_t refusal = own_functions.selectBackend(backend);
    if (refusal) {
        printf("check-carriers %s: skipped: %s\n", arguments[1], probe_failure_text(refusal));
        return 0;
    }
    static const struct load loads[] = {
        {"2 us", 10000, 4000, 1000, 0, 0, 0},
        {"2 us, sleeps", 10000, 4000, 1000, 15, 5, 20000},
        {"10 us, sleeps", 6000, 20000, 1000, 15, 5, 20000},
        {"50 us, sleeps", 2000, 100000, 2000, 15, 5, 50000},
        {"10 us, idle", 2000, 20000, 1000, 5, 90, 100000},
        {"0.5 ms, sleeps", 500, 1000000, 2000, 15, 5, 50000},
    };
    for (unsigned i = 0; i < sizeof loads / sizeof loads[0]; i++) check_load(&loads[i]);
    check_states(backend);
    printf("check-carriers %s: passed\n", arguments[1]);
    return 0;
}
