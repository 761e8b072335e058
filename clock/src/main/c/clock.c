// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The table of functions that all copies of the library share, and the choice of how cpu is read.

#include "cpu.h"

#include <linux/time_types.h>

enum { WIPE_ON_FORK = 18 };  // MADV_WIPEONFORK, Linux 4.14

struct process_state process;

static int is_initialized;

// Once: a copy of the library stays mapped, and may be loaded again while others use its functions. Callers take turns.
void clock_init(void) {
    if (is_initialized) return;
    is_initialized = 1;
    SYSCALL(__NR_madvise, &process, sizeof process, WIPE_ON_FORK);
    vdso_init();
    split_init();
    accuracy_init();
    calibration_init();
}

// Until the rate is known a rung that needs it is of no use.
static int await_rate(void) {
    enum { TRIES = 500 };
    for (int i = 0; i < TRIES && !READ(process.nanos_per_count); i++) {
        struct __kernel_timespec time = {0, 2000000};
        if (i > 0) SYSCALL(__NR_nanosleep, &time, 0);
        calibrate();
    }
    return READ(process.nanos_per_count) != 0;
}

// Tries a rung and changes to it if it is usable. Takes some tens of milliseconds the first time.
static int32_t select_rung(int32_t wanted) {
    enum { NOT_TRIED = 0, TRIED = 1 };
    static int32_t tried[RUNG_RSEQ_OWN + 1];  // TRIED + what came of it
    if (wanted == RUNG_SYSCALL) {
        WRITE(process.rung, wanted);
        return PROBE_USABLE;
    }
    static int32_t tried_after;                // how many restores
    if (READ(tried_after) != READ(process.restores)) {
        for (int i = 0; i <= RUNG_RSEQ_OWN; i++) WRITE(tried[i], NOT_TRIED);
        WRITE(tried_after, READ(process.restores));
    }
    int32_t known = READ(tried[wanted]), refusal = known - TRIED;
    // A child made by fork has no marker.
    if (known == NOT_TRIED || (!refusal && !READ(process.not_marker))) {
        refusal = rseq_prepare(wanted);
        if (!refusal) refusal = probe_markers(wanted);
        if (!refusal && !await_rate()) refusal = PROBE_NO_RATE;
        if (!refusal) time_kernel();
        WRITE(tried[wanted], TRIED + refusal);
    }
    if (!refusal) __atomic_store_n(&process.rung, wanted, __ATOMIC_RELEASE);
    return refusal;
}

static int64_t cpu_nanos(void) { return (int64_t)cpu_now(own_clock()); }

static void report(struct clock_report *into) {
    calibration_report(into);
    accuracy_report(into);
    into->restores = READ(process.restores);
}

const struct functions own_functions = {
    .magic = TASKCLOCK_MAGIC,
    .abi = TASKCLOCK_ABI,
    .size = sizeof(struct functions),
    .identity = library_identity,
    .cpuNanos = cpu_nanos,
    .userNanos = user_nanos,
    .systemNanos = system_nanos,
    .nowCpuNanos = now_cpu_nanos,
    .nowUserNanos = now_user_nanos,
    .clockNanos = clock_nanos,
    .tickStamp = coarse_nanos,
    .selectRung = select_rung,
    .setAccuracy = set_accuracy,
    .report = report,
    .machineChanged = machine_changed,
    .virtualNanos = virtual_nanos,
    .mount = mount,
    .unmount = unmount,
    .stopCarrying = stop_carrying,
    .carriers = carriers,
};
