// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The function table that all copies of the library share, and the selection of the backend.

#include "cpu.h"

#include <linux/time_types.h>

enum { WIPE_ON_FORK = 18 };  // MADV_WIPEONFORK, Linux 4.14

struct process_state process;

static int is_initialized, is_wiped_on_fork;

// Runs only once, because a copy of the library stays mapped and may be loaded again while others use its functions.
// Callers must hold a lock.
void clock_init(void) {
    if (is_initialized) return;
    is_initialized = 1;
    is_wiped_on_fork = SYSCALL(__NR_madvise, &process, sizeof process, WIPE_ON_FORK) == 0;
    split_init();
    accuracy_init();
    calibration_init();
}

// A backend that reads the counter is useless until the rate is known.
static int await_rate(void) {
    enum { TRIES = 500 };
    for (int i = 0; i < TRIES && !READ(process.nanos_per_count); i++) {
        struct __kernel_timespec time = {0, 2000000};
        if (i > 0) SYSCALL(__NR_nanosleep, &time, 0);
        calibrate();
    }
    accuracy_rate_changed();
    return READ(process.nanos_per_count) != 0;
}

static void set_backend(int32_t backend) { __atomic_store_n(&process.backend, backend, __ATOMIC_SEQ_CST); }

static int is_off(void) { return __atomic_load_n(&process.is_off, __ATOMIC_SEQ_CST); }

// Another thread may select a backend at the same time: either it sees that the switch is off, or we overwrite what it
// has set.
static void switch_off(void) {
    __atomic_store_n(&process.is_off, 1, __ATOMIC_SEQ_CST);
    set_backend(BACKEND_SYSCALL);
}

static void switch_on(void) {
    if (!is_off()) return;
    __atomic_store_n(&process.is_off, 0, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&process.times_on, 1, __ATOMIC_RELAXED);
}

static int use(int32_t backend) {
    set_backend(backend);
    if (!is_off()) return PROBE_USABLE;
    set_backend(BACKEND_SYSCALL);
    return PROBE_SWITCHED_OFF;
}

static int32_t test_backend(int32_t backend) {
    // Without this, a forked child would take its parent's bases for its own. Asking the kernel shows that its clock
    // has restarted.
    if (!is_wiped_on_fork) return PROBE_NOT_WIPED;
    uint64_t marker = 0;
    int32_t refusal = rseq_prepare(backend, &marker);
    if (!refusal) refusal = probe_markers(backend, marker);
    if (!refusal && !await_rate()) refusal = PROBE_NO_RATE;
    if (!refusal && !rseq_use_marker(marker)) refusal = PROBE_OTHER_MARKER;
    if (!refusal) time_kernel_read();
    return refusal;
}

// Returns whether a later test may have another result, and this one was fast.
static int is_temporary(int32_t refusal) {
    return refusal == PROBE_NO_CHILD || refusal == PROBE_OUT_OF_MEMORY || refusal == PROBE_RSEQ_USED;
}

// Threads give their areas back when they read.
void stop_taking(void) {
    int32_t taking = BACKEND_RSEQ_TAKE;
    if (__atomic_compare_exchange_n(&process.backend, &taking, BACKEND_SYSCALL, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        __atomic_fetch_add(&process.times_on, 1, __ATOMIC_RELAXED);
}

// Tests a backend and switches to it if it is usable. Takes a few tens of milliseconds the first time.
static int32_t select_backend(int32_t backend) {
    enum { NOT_TESTED = 0, TESTED = 1 };
    static int32_t results[BACKENDS];  // TESTED + the PROBE_ result
    if (backend <= BACKEND_SYSCALL) {
        if (backend == BACKEND_ON) switch_on();
        else if (backend == BACKEND_OFF) switch_off();
        else if (backend == BACKEND_NO_TAKE) stop_taking();
        else set_backend(BACKEND_SYSCALL);
        return PROBE_USABLE;
    }
    if (is_off()) return PROBE_SWITCHED_OFF;
    static int32_t restores_seen;
    if (READ(restores_seen) != READ(process.restores)) {
        for (int i = 0; i < BACKENDS; i++) WRITE(results[i], NOT_TESTED);
        WRITE(restores_seen, READ(process.restores));
    }
    int32_t known = READ(results[backend]), refusal = known - TESTED;
    // A forked child has no marker.
    if (known == NOT_TESTED || (!refusal && !READ(process.inverted_marker))) {
        refusal = test_backend(backend);
        WRITE(results[backend], is_temporary(refusal) ? NOT_TESTED : TESTED + refusal);
    }
    if (!refusal && backend == BACKEND_RSEQ_TAKE && rseq_user()) {
        stop_taking();
        refusal = PROBE_RSEQ_USED;
    }
    return refusal ? refusal : use(backend);
}

static int64_t cpu_nanos(void) { return (int64_t)cpu_now(own_clock()); }

static void report(struct clock_report *into) {
    calibration_report(into);
    accuracy_report(into);
    into->restores = READ(process.restores);
    into->changes = into->restores + READ(process.times_on);
    into->backend = current_backend();
    into->is_off = is_off();
}

// Returns the global reference to the Java object that all copies share. The first candidate becomes that object.
static void *shared_object(void *candidate) {
    static void *object;
    void *none = 0;
    if (candidate) __atomic_compare_exchange_n(&object, &none, candidate, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&object, __ATOMIC_ACQUIRE);
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
    .clockNanos = thread_nanos,
    .tickStamp = coarse_nanos,
    .selectBackend = select_backend,
    .setAccuracy = set_accuracy,
    .report = report,
    .machineChanged = machine_changed,
    .virtualNanos = virtual_nanos,
    .mount = mount,
    .unmount = unmount,
    .stopCarrying = stop_carrying,
    .carriers = carriers,
    .sharedObject = shared_object,
    .startContexts = start_contexts,
    .threadContext = thread_context,
    .mountContext = mount_context,
    .publishContext = publish_context,
};
