// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The native half of TaskClock. It uses raw system calls and no libc, so one library serves glibc and musl alike.
//
//   kernel.c       system calls: CPU clocks, getrusage, files, lists of threads
//   vdso.c         clocks that need no system call
//   calibration.c  the rate of the time-stamp counter
//   accuracy.c     how long the counter may be trusted before the kernel is asked again
//   cpu.h, cpu.c   the calling thread's cpu; cpu_now() in cpu.h decides whether the kernel is asked
//   split.c        user and system, so that they add up to cpu
//   carriers.c     virtual threads on the threads that carry them
//   slots.c        per-thread records that outlive their threads
//   rseq.c         markers by which a thread notices that it was switched out
//   probe.c        whether this kernel removes them
//   clock.c        the table of functions, and the choice of how cpu is read
//   shared.h, .c   lets all copies of this library in one process use the first one's functions and state
//   hotspot.c      from a java.lang.Thread to its kernel thread id
//   jni.c          what Java calls

#ifndef TASKCLOCK_H
#define TASKCLOCK_H

#include "shared.h"

// ---- kernel.c

int64_t clock_nanos(int32_t id);  // -1 if it cannot be read
int64_t clock_resolution(int32_t id);
int kernel_refusal(void);                               // the errno with which it refuses what the clock needs; 0 if it does not
long rusage_of_thread(int64_t *user, int64_t *system);  // 0 or -errno
int64_t switches_of_thread(void);                       // how often it was switched out, by itself or not; -1 if unknown
long read_file(const char *path, char *text, long length);  // bytes read, 0 if none
int32_t own_tid(void);
void *map_pages(long length);  // null if there is no memory
int32_t list_threads(int32_t *tids, int32_t capacity);
int64_t raw_nanos(int32_t id, int32_t count);

// ---- vdso.c

void vdso_init(void);
int64_t coarse_nanos(void);
int64_t raw_clock_nanos(void);  // CLOCK_MONOTONIC_RAW

// ---- slots.c

// A slot begins with the kernel id of the thread that has it, and outlives the thread: the kernel, or another thread, may
// look at it until nobody can any more. Slots are in pages that are never given back, and are reused once no thread has the
// id any more.
struct slots {
    struct slot_page *newest, *asked_last;
};
enum { SLOT_ALIGNMENT = 64 };
// Zeros, or what the thread before left; null if there is no memory. All slots of one registry have one size.
void *claim_slot(struct slots *slots, int32_t size, int32_t tid);
void leave_slot(void *slot);
void *next_slot(struct slots *slots, int32_t size, void *slot);  // the first for null, null after the last

// ---- the state of the process

// What readings load and hardly anything writes. A child made by fork finds zeros, so it asks the kernel each time and
// shares no area with its parent (MADV_WIPEONFORK).
struct process_state {
    uint64_t not_marker;       // the complement of what is left in a marker's place; 0 before there is one
    int32_t rung;              // in use
    int32_t restores;          // from a checkpoint
    uint64_t nanos_per_count;  // of 2^32; 0 until it is known
    uint64_t life;             // counts for which a base may be used; 0: ask each time
    // Written as threads come and go, so apart.
    struct slots areas __attribute__((aligned(128)));  // of our own
    struct slots carriers;
    int64_t carrier_count;  // records that ever had a carrier
} __attribute__((aligned(PAGE)));
extern struct process_state process __attribute__((visibility("hidden")));

// What is in no place before there is a marker, nor in a child made by fork: the kernel leaves a 0 there.
static inline uint64_t process_marker(void) { return ~READ(process.not_marker); }

// ---- cpu.c

void machine_changed(void);
void time_kernel(void);

// ---- calibration.c

void calibration_init(void);
int calibration_is_due(uint64_t counts);  // by the counter alone
void calibrate(void);
void calibration_reset(void);
void calibration_doubt(void);
void calibration_report(struct clock_report *into);

// ---- accuracy.c

void accuracy_init(void);
void set_accuracy(int64_t budget_nanos);
void judge_base(uint64_t nanos, int64_t ahead);
void accuracy_report(struct clock_report *into);
void accuracy_rate_changed(void);
int life_can_grow(void);

// ---- carriers.c

void carrier_restarted(struct carrier *c, int64_t cpu, int64_t user);
int64_t virtual_nanos(int32_t what);
int64_t mount(int64_t cpu, int64_t user);
int64_t unmount(void);
void stop_carrying(void);
int32_t carriers(int64_t *into, int32_t capacity);

// ---- split.c

void split_init(void);
int user_time_is_precise(void);  // user and system are measured rather than sampled at ticks
int64_t user_nanos(void);
int64_t system_nanos(void);
int64_t now_cpu_nanos(void);
int64_t now_user_nanos(void);

// ---- rseq.c

int rseq_prepare(int rung);                     // a refusal, or PROBE_USABLE
volatile uint64_t *rseq_marker_place(int rung);  // of the calling thread; null if it has no area
uint32_t rseq_area_length(int rung);
volatile uint64_t *rseq_register(void *memory, uint32_t length, int rung);  // null if the kernel refuses

// ---- probe.c

int probe_markers(int rung);  // a refusal, or PROBE_USABLE; takes some tens of ms

// ---- clock.c

void clock_init(void);
extern const struct functions own_functions;

// ---- shared.c

extern const char library_identity[] __attribute__((visibility("hidden")));

// ---- hotspot.c

int hotspot_init(void);
int32_t hotspot_tid(uint64_t java_thread);

#endif
