// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Tests whether this kernel removes a marker when its thread is switched out. Some kernels keep one or both kinds of
// marker when a thread blocks (see Backends.java), one kernel did not remove them on preemption, and with rseq_debug
// the kernel kills a process that uses one kind.
//
// The test runs in a child process, so that a marker cannot kill the JVM and the affinity ends with the child (since
// 6.2 the kernel remembers forever that a thread requested an affinity, even if it restores the old one). The child has
// its own signal handlers, limits, and registration, and makes only raw system calls. It shares our memory, because
// fork would copy the page table of a large JVM and cause a page fault for each page that the JVM writes to next.

#include "taskclock.h"

#include <linux/time_types.h>

enum { VM = 0x100, FS = 0x200, FILES = 0x400 };  // CLONE_VM, CLONE_FS, CLONE_FILES
enum { ANY_CHILD = 0x40000000 };                 // __WALL: includes children without an exit signal
enum { CORE_LIMIT = 4 };                         // RLIMIT_CORE
enum { SET_MASK = 2, MASK_BYTES = 8 };           // SIG_SETMASK

enum { BLOCKS = 16, CALLS = 16, PREEMPTIONS = 4, READS_PER_CALL = 16384 };
static const int64_t TIMEOUT = 2 * NANOS_PER_SECOND;
static const int64_t MAX_SPIN = 20000000;  // ns

enum { STACK_SIZE = 4 * PAGE, NO_VERDICT = -1, MAX_AREA_SIZE = 1024 };

struct trial {
    char subject_stack[STACK_SIZE], preemptor_stack[STACK_SIZE];  // stacks grow down
    char area[MAX_AREA_SIZE] __attribute__((aligned(MAX_AREA_SIZE)));
    uint32_t area_length;
    int backend;
    uint64_t marker;
    int64_t deadline;  // by raw_clock_nanos()
    int32_t subject;   // pid
    int is_done;
    int verdict;
};

static void nap(void) {
    struct __kernel_timespec time = {0, 100000};
    SYSCALL(__NR_nanosleep, &time, 0);
}

static void end_process(void) {
    for (;;) SYSCALL(__NR_exit_group, 0);
}

// Starts a child with all signals blocked, because the JVM's handlers must not run in it. A signal forced by the kernel
// kills it.
static long start_child(char *stack, void (*run)(void *), struct trial *trial) {
    uint64_t all = ~0ull, before;
    SYSCALL(__NR_rt_sigprocmask, SET_MASK, &all, &before, MASK_BYTES);
    long pid = clone_onto(stack + STACK_SIZE, VM | FS | FILES, run, trial);
    SYSCALL(__NR_rt_sigprocmask, SET_MASK, &before, 0, MASK_BYTES);
    return pid;
}

static long wait_for(long pid) {
    long result;
    do result = SYSCALL(__NR_wait4, pid, 0, ANY_CHILD, 0);
    while (result == -EINTR);
    return result;
}

// ---- in the child

static int pin_to_current_cpu(void) {
    char mask[1024];
    uint32_t cpu = 0;
    long length = SYSCALL(__NR_sched_getaffinity, 0, sizeof mask, mask);
    if (length <= 0 || SYSCALL(__NR_getcpu, &cpu, 0, 0) != 0 || cpu >= (uint64_t)length * 8) return 0;
    for (uint32_t i = 0; i < sizeof mask; i++) mask[i] = 0;
    mask[cpu / 8] = (char)(1 << cpu % 8);
    return SYSCALL(__NR_sched_setaffinity, 0, length, mask) == 0;
}

// Returns whether blocking removes the marker. In virtual machines the sleep may end before the thread is switched out;
// then there is no switch to detect.
static int blocking_removes(volatile uint64_t *address, uint64_t marker) {
    int removed = 0, kept = 0;
    for (int i = 0; i < 2 * BLOCKS && removed < BLOCKS && !kept; i++) {
        int64_t switches = switches_of_thread();
        *address = marker;
        nap();
        if (*address != marker) removed++;
        else if (switches_of_thread() != switches) kept++;
    }
    return removed == BLOCKS;
}

static int survives_system_calls(volatile uint64_t *address, uint64_t marker) {
    int kept = 0;
    for (int i = 0; i < CALLS; i++) {
        *address = marker;
        SYSCALL(__NR_getppid);
        if (*address == marker) kept++;
    }
    return kept > CALLS / 2;
}

// Preempts the subject repeatedly.
static void preemptor(void *argument) {
    struct trial *trial = argument;
    while (!READ(trial->is_done) && raw_clock_nanos() < trial->deadline && SYSCALL(__NR_getppid) == READ(trial->subject))
        nap();
    end_process();
}

static int preemption_removes(struct trial *trial, volatile uint64_t *address, uint64_t marker) {
    int removed = 0, kept = 0;
    // A switch between counting switches and setting the marker looks as if the kernel kept the marker. So the kernel
    // is rejected only if this happens twice.
    while (removed < PREEMPTIONS && kept < 2 && raw_clock_nanos() < trial->deadline) {
        int64_t switches = switches_of_thread(), until = raw_clock_nanos() + MAX_SPIN;
        *address = marker;
        // Asks for the time so rarely that the thread is almost always preempted in user code.
        for (uint32_t i = 1; *address == marker && (i % READS_PER_CALL || raw_clock_nanos() < until); i++) {}
        int is_removed = *address != marker;
        if (switches_of_thread() != switches) is_removed ? removed++ : kept++;
    }
    return removed >= PREEMPTIONS ? PROBE_USABLE : kept ? PROBE_KEPT_BY_PREEMPTION : PROBE_NOT_PREEMPTED;
}

static int try_marker(struct trial *trial) {
    // A crash must not dump the memory of the JVM. The limit is 1 because a core_pattern pipe ignores 0 (core(5)).
    uint64_t core[2] = {1, 1};
    SYSCALL(__NR_prlimit64, 0, CORE_LIMIT, core, 0);
    WRITE(trial->subject, (int32_t)SYSCALL(__NR_getpid));
    if (!pin_to_current_cpu()) return PROBE_CANNOT_PIN;
    volatile uint64_t *address = rseq_register(trial->area, trial->area_length, trial->backend);
    if (!address) return PROBE_REGISTRATION_REFUSED;
    uint64_t marker = trial->marker;
    if (!blocking_removes(address, marker)) return PROBE_KEPT_BY_BLOCKING;
    if (!survives_system_calls(address, marker)) return PROBE_CLEARED_BY_SYSCALLS;
    long pid = start_child(trial->preemptor_stack, preemptor, trial);
    if (failed(pid)) return PROBE_NO_CHILD;
    int verdict = preemption_removes(trial, address, marker);
    WRITE(trial->is_done, 1);
    wait_for(pid);
    return verdict;
}

static void subject(void *argument) {
    struct trial *trial = argument;
    __atomic_store_n(&trial->verdict, try_marker(trial), __ATOMIC_RELEASE);
    end_process();
}

// ---- in the JVM process

int probe_markers(int backend, uint64_t marker) {
    if (rseq_area_length(backend) > MAX_AREA_SIZE) return PROBE_REGISTRATION_REFUSED;
    struct trial *trial = map_pages(sizeof *trial);
    if (!trial) return PROBE_OUT_OF_MEMORY;
    trial->backend = backend;
    trial->marker = marker;
    trial->area_length = rseq_area_length(backend);
    trial->deadline = raw_clock_nanos() + TIMEOUT;
    trial->verdict = NO_VERDICT;
    long pid = start_child(trial->subject_stack, subject, trial);
    int verdict = PROBE_NO_CHILD;
    // wait4 fails if the host program reaps all children. In that case, poll for the result.
    if (!failed(pid) && failed(wait_for(pid))) {
        while (READ(trial->verdict) == NO_VERDICT && raw_clock_nanos() < trial->deadline + TIMEOUT) nap();
    }
    if (!failed(pid)) verdict = __atomic_load_n(&trial->verdict, __ATOMIC_ACQUIRE);
    // The memory stays mapped in this case, because a preemptor may still be running on its stack.
    if (verdict == NO_VERDICT) return PROBE_CHILD_DIED;
    SYSCALL(__NR_munmap, trial, sizeof *trial);
    return verdict;
}
