// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Tries on this kernel whether a marker goes when its thread is switched out: Linux 6.19 stopped removing one kind when a
// thread blocks, another missed preemption for a while, and with rseq_debug a process is killed for the other kind.
//
// It is tried in a process that exists for that only: so a marker can kill nobody else, and what it pins is gone with it (since
// 6.2 the kernel remembers for ever that a thread asked for an affinity, even if it asked for the old one back). That
// process has its own signal handlers, limits and registration, makes raw system calls only, and shares our memory: a copy,
// as by fork, would cost a large JVM a page table and a page fault for each page that it writes to next.

#include "taskclock.h"

#include <linux/time_types.h>

enum { VM = 0x100, FS = 0x200, FILES = 0x400 };  // CLONE_*
enum { ANY_CHILD = 0x40000000 };                  // __WALL: also one that tells no parent that it ends
enum { CORE_LIMIT = 4 };                          // RLIMIT_CORE
enum { SET_MASK = 2, MASK_BYTES = 8 };

enum { BLOCKS = 16, CALLS = 16, PREEMPTIONS = 4 };
static const int64_t PATIENCE = 2 * NANOS_PER_SECOND;
static const int64_t LONGEST_SPIN = 20000000;  // ns

enum { STACK = 4 * PAGE, NO_VERDICT = -1, MOST_AREA = 1024 };

struct trial {
    char subject_stack[STACK], rival_stack[STACK];  // they grow down
    char area[MOST_AREA] __attribute__((aligned(MOST_AREA)));
    uint32_t area_length;
    int rung;
    int64_t deadline;  // by coarse_nanos()
    int32_t subject;   // pid
    int is_over;
    int verdict;
};

static void nap(void) {
    struct __kernel_timespec time = {0, 100000};
    SYSCALL(__NR_nanosleep, &time, 0);
}

static void end_process(void) {
    for (;;) SYSCALL(__NR_exit_group, 0);
}

// Signals are blocked in a child from its first moment: handlers of the JVM are not for it. One that the kernel forces on it
// kills.
static long start(char *stack, void (*run)(void *), struct trial *trial) {
    uint64_t all = ~0ull, before;
    SYSCALL(__NR_rt_sigprocmask, SET_MASK, &all, &before, MASK_BYTES);
    long pid = clone_onto(stack + STACK, VM | FS | FILES, run, trial);
    SYSCALL(__NR_rt_sigprocmask, SET_MASK, &before, 0, MASK_BYTES);
    return pid;
}

static long await(long pid) {
    long result;
    do result = SYSCALL(__NR_wait4, pid, 0, ANY_CHILD, 0);
    while (result == -EINTR);
    return result;
}

// ---- in the child

static int stay_on_this_processor(void) {
    char mask[1024];
    uint32_t cpu = 0;
    long length = SYSCALL(__NR_sched_getaffinity, 0, sizeof mask, mask);
    if (length <= 0 || SYSCALL(__NR_getcpu, &cpu, 0, 0) != 0 || cpu >= (uint64_t)length * 8) return 0;
    for (uint32_t i = 0; i < sizeof mask; i++) mask[i] = 0;
    mask[cpu / 8] = (char)(1 << cpu % 8);
    return SYSCALL(__NR_sched_setaffinity, 0, length, mask) == 0;
}

// Where the time is over before the thread has given way, as happens in guests, there is no switch to be noticed.
static int blocking_removes(volatile uint64_t *place, uint64_t marker) {
    int gone = 0, kept = 0;
    for (int i = 0; i < 2 * BLOCKS && gone < BLOCKS && !kept; i++) {
        int64_t switches = switches_of_thread();
        *place = marker;
        nap();
        if (*place != marker) gone++;
        else if (switches_of_thread() != switches) kept++;
    }
    return gone == BLOCKS;
}

static int system_calls_leave(volatile uint64_t *place, uint64_t marker) {
    int left = 0;
    for (int i = 0; i < CALLS; i++) {
        *place = marker;
        SYSCALL(__NR_getppid);
        if (*place == marker) left++;
    }
    return left > CALLS / 2;
}

// Takes the processor away from the subject over and over.
static void rival(void *argument) {
    struct trial *trial = argument;
    while (!READ(trial->is_over) && coarse_nanos() < trial->deadline && SYSCALL(__NR_getppid) == READ(trial->subject))
        nap();
    end_process();
}

static int preemption_removes(struct trial *trial, volatile uint64_t *place, uint64_t marker) {
    int gone = 0, kept = 0;
    // A switch between counting switches and setting the marker looks like one that was missed, so two of them are needed.
    while (gone < PREEMPTIONS && kept < 2 && coarse_nanos() < trial->deadline) {
        int64_t switches = switches_of_thread(), until = coarse_nanos() + LONGEST_SPIN;
        *place = marker;
        while (*place == marker && coarse_nanos() < until) {}
        int is_gone = *place != marker;
        if (switches_of_thread() != switches) is_gone ? gone++ : kept++;
    }
    return gone >= PREEMPTIONS ? PROBE_USABLE : kept ? PROBE_KEPT_PREEMPTED : PROBE_NOT_PREEMPTED;
}

static int try_marker(struct trial *trial) {
    // Dumps the memory of the JVM otherwise. 1, not 0: a pipe of core_pattern takes no notice of 0 (core(5)).
    uint64_t core[2] = {1, 1};
    SYSCALL(__NR_prlimit64, 0, CORE_LIMIT, core, 0);
    WRITE(trial->subject, (int32_t)SYSCALL(__NR_getpid));
    if (!stay_on_this_processor()) return PROBE_CANNOT_PIN;
    volatile uint64_t *place = rseq_register(trial->area, trial->area_length, trial->rung);
    if (!place) return PROBE_NOT_REGISTERED;
    uint64_t marker = process_marker();
    if (!blocking_removes(place, marker)) return PROBE_KEPT_BLOCKED;
    if (!system_calls_leave(place, marker)) return PROBE_LOST;
    long pid = start(trial->rival_stack, rival, trial);
    if (failed(pid)) return PROBE_NO_CHILD;
    int verdict = preemption_removes(trial, place, marker);
    WRITE(trial->is_over, 1);
    await(pid);
    return verdict;
}

static void subject(void *argument) {
    struct trial *trial = argument;
    __atomic_store_n(&trial->verdict, try_marker(trial), __ATOMIC_RELEASE);
    end_process();
}

// ---- in the process that asks

int probe_markers(int rung) {
    if (rseq_area_length(rung) > MOST_AREA) return PROBE_NOT_REGISTERED;
    struct trial *trial = map_pages(sizeof *trial);
    if (!trial) return PROBE_MEMORY;
    trial->rung = rung;
    trial->area_length = rseq_area_length(rung);
    trial->deadline = coarse_nanos() + PATIENCE;
    trial->verdict = NO_VERDICT;
    long pid = start(trial->subject_stack, subject, trial);
    int verdict = PROBE_NO_CHILD;
    // A program that waits for all children there are might take it from us.
    if (!failed(pid) && failed(await(pid))) {
        while (READ(trial->verdict) == NO_VERDICT && coarse_nanos() < trial->deadline + PATIENCE) nap();
    }
    if (!failed(pid)) verdict = __atomic_load_n(&trial->verdict, __ATOMIC_ACQUIRE);
    // A rival may be left, and needs its stack.
    if (verdict == NO_VERDICT) return PROBE_CHILD_DIED;
    SYSCALL(__NR_munmap, trial, sizeof *trial);
    return verdict;
}
