// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The native library of TaskClock. It uses raw system calls and needs no libc, so the same library works with glibc and
// musl.
//
//   kernel.c       system calls: CPU clocks, getrusage, files, lists of threads
//   calibration.c  the rate of the time-stamp counter
//   accuracy.c     how long the counter may be trusted before the kernel is asked again
//   cpu.h, cpu.c   the calling thread's CPU time; cpu_now() in cpu.h decides whether to ask the kernel
//   split.c        user and system time that add up to the CPU time
//   carriers.c     virtual threads on their carriers
//   slots.c        per-thread records that outlive their threads
//   readings.c     what each thread last read of itself, for readers on other threads
//   wait.c         how long threads were ready to run but had no processor
//   rseq.c         markers that show whether a thread was switched out
//   rseq_users.c   finds other code that uses restartable sequences
//   maps.h, .c     reads /proc/self/maps
//   probe.c        tests whether this kernel removes the markers
//   context.c      what each thread works on, for eBPF profilers
//   clock.c        the function table and the selection of the backend
//   shared.h, .c   shares the first copy's functions and state with all copies in the process
//   hotspot.c      finds the kernel thread id of a java.lang.Thread
//   jni.c          the functions that Java calls

#ifndef TASKCLOCK_H
#define TASKCLOCK_H

#include "shared.h"

// ---- kernel.c

int64_t clock_nanos(int32_t id);  // -1 if it cannot be read
int64_t coarse_nanos(void);       // CLOCK_MONOTONIC_COARSE, which changes at each tick, without a system call
int64_t raw_clock_nanos(void);    // CLOCK_MONOTONIC_RAW
int64_t clock_resolution(int32_t id);
int kernel_refusal(void);  // errno of a required system call that the kernel refuses; 0 if all work
long rusage_of_thread(int64_t *user, int64_t *system);  // 0 or -errno
int64_t switches_of_thread(void);                       // voluntary and involuntary context switches; -1 if unknown
long read_file(const char *path, char *text, long length);  // returns the bytes read; 0 on failure
int32_t own_tid(void);
void *map_pages(long length);  // null if there is no memory
int32_t list_threads(int32_t *tids, int32_t capacity);
int32_t count_threads(void);  // -1 if unknown
int64_t raw_nanos(int32_t id, int32_t count);

// ---- slots.c

// A slot starts with the kernel id of its thread and outlives the thread, because the kernel or another thread may
// still access it. The pages of slots are never freed. A slot is reused once no thread has its id.
struct slots {
    struct slot_page *newest, *last_checked;
};
enum { SLOT_ALIGNMENT = 64 };
// Returns a slot that is zero or has the contents left by its previous thread; null if out of memory. All slots of a
// registry have the same size.
void *claim_slot(struct slots *slots, int32_t size, int32_t tid);
void release_slot(void *slot);
int take_slot(int32_t *slot, int32_t tid);  // takes a slot that is free or was left by an ended thread; 0 if it is not
void *next_slot(struct slots *slots, int32_t size, void *slot);  // pass null for the first; null after the last

// ---- the state of the process

enum { READING_CHAINS = 1024, WAIT_FILES = 256 };

// The file from which a thread reads its wait time; see wait.c.
struct wait_file {
    int32_t tid;
    int32_t fd;  // 0: none
};

// Every reading loads this state, and it is rarely written. A forked child finds zeros (MADV_WIPEONFORK), so it asks
// the kernel each time and shares no area with its parent.
//
// Threads may see these words change in any order. The backend is stored with release and loaded with acquire before a
// base is taken, so a thread that takes one sees the marker and the rate that were set before. All later changes are
// harmless in any order: the marker never changes once it is set, a reading uses the rate that its base was taken with,
// and the life is a limit, not a condition for correctness. A reading that sees no marker yet compares with all ones,
// which no area contains, and asks the kernel.
struct process_state {
    uint64_t inverted_marker;  // the bitwise complement of the marker; 0 until there is one
    int32_t backend;           // in use
    int32_t restores;          // from a checkpoint, as far as detected
    int32_t is_off;            // only BACKEND_SYSCALL may be used
    int32_t times_on;          // how often BACKEND_ON was selected
    uint64_t nanos_per_count;  // in units of 2^-32; 0 until it is known
    uint64_t life;             // how long a base may be used, in counts; 0: ask the kernel each time
    // On cache lines of their own, because they are written as threads start and end.
    struct slots areas __attribute__((aligned(128)));  // rseq areas that we registered
    struct slots carriers;
    int64_t carrier_count;  // records that have been used at least once
    struct slots contexts;  // of threads, for profilers
    struct process_context *published_context;
    struct readings_page *readings_page;
    struct own_reading *readings[READING_CHAINS];
    struct wait_file wait_files[WAIT_FILES];
    int32_t keeps_no_files;
} __attribute__((aligned(MAX_KERNEL_PAGE)));  // wiped on fork, which works on whole pages
extern struct process_state process __attribute__((visibility("hidden")));

// Before there is a marker, and in a forked child, this is all ones, which no area contains: the kernel writes 0.
static inline uint64_t process_marker(void) { return ~READ(process.inverted_marker); }

static inline uint64_t magnitude(int64_t value) { return (uint64_t)(value < 0 ? -value : value); }

// ---- cpu.c

void machine_changed(void);
void time_kernel_read(void);

// ---- calibration.c

void calibration_init(void);
int calibration_is_due(uint64_t counts);  // uses only the counter
void calibrate(void);
void calibration_reset(void);
// Resets the rate if the kernel's clock contradicts it. `residual`: how far ahead a base was when the next one was
// taken, `nanos` of CPU time later.
void calibration_check(uint64_t nanos, int64_t residual);
void calibration_report(struct clock_report *into);

// ---- accuracy.c

void accuracy_init(void);
void set_accuracy(int64_t budget_nanos);
void record_residual(uint64_t nanos, int64_t residual);
void accuracy_report(struct clock_report *into);
void accuracy_rate_changed(void);
int life_can_grow(void);

// ---- carriers.c

int64_t virtual_nanos(int32_t value);
int64_t mount(int64_t cpu, int64_t user);
int64_t unmount(void);
void stop_carrying(void);
int32_t carriers(int64_t *into, int32_t capacity);

// ---- split.c

void split_init(void);
int user_time_is_precise(void);  // user and system time are measured rather than sampled at ticks
int64_t user_nanos(void);
int64_t system_nanos(void);
int64_t now_cpu_nanos(void);
int64_t now_user_nanos(void);

// ---- wait.c

int64_t wait_nanos(void);       // of the calling thread; -1 if unknown
void keep_wait_files(int on);  // 0: closes all of them

// ---- rseq.c

int rseq_prepare(int backend, uint64_t *marker);      // returns a PROBE_ result and the marker to be tested
int rseq_use_marker(uint64_t marker);                 // 0 if threads already use another one
volatile uint64_t *rseq_marker_address(int backend);  // for the calling thread; null if it has no area
int rseq_give_back(volatile uint64_t *marker);        // undoes what rseq_marker_address did on BACKEND_RSEQ_TAKE
uint32_t rseq_area_length(int backend);
// Registers an area of that length as libc would, and on backends with areas of our own, replaces it by such an area.
volatile uint64_t *rseq_register(void *memory, uint32_t length, int backend);  // null if the kernel refuses

// ---- libc, if it has this function

// The beginning of struct dl_phdr_info (dl_iterate_phdr(3)), which all libcs with this function have in common.
struct library_info {
    uint64_t address;
    const char *name;
    const void *headers;
    uint16_t header_count;
    uint64_t loads, unloads;
};
extern int dl_iterate_phdr(int (*)(struct library_info *, size_t, void *), void *) __attribute__((weak));

// ---- rseq_users.c

uint32_t rseq_signature(void);
// Returns the path of a file with code that uses restartable sequences, or null. Takes milliseconds the first time and
// after a library has been loaded.
const char *rseq_user(void);

// ---- probe.c

int probe_markers(int backend, uint64_t marker);  // returns a PROBE_ result; takes a few tens of ms

// ---- context.c

enum { CONTEXT_LENGTH = 640 };
// Returns 1 and the name of the loaded library that defines the variable which profilers look for; 0 if there is none.
int context_variable_is_defined(const char **library);
int32_t start_contexts(void);  // returns 0 if the library that defines the variable for us has not been loaded
void *thread_context(void);    // makes profilers find a record for the calling thread; null if out of memory
void mount_context(int64_t record);  // makes profilers find a record for the calling thread; 0: none, < 0: no change
// Publishes the keys of the records. Callers must hold a lock. Returns 0, EEXIST if other code publishes, or an errno.
int32_t publish_context(const void *payload, int32_t length);

// ---- clock.c

void clock_init(void);
void stop_taking(void);
extern const struct functions own_functions;

// ---- shared.c

extern const char library_identity[] __attribute__((visibility("hidden")));

// ---- hotspot.c

int hotspot_init(void);
int32_t hotspot_tid(uint64_t java_thread);

#endif
