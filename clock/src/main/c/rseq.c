// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// CPU time without a system call. Between two context switches a thread's CPU time advances with the time-stamp
// counter, so it is enough to know whether a switch has happened. Restartable sequences show that
// (include/uapi/linux/rseq.h): each thread has an area that the kernel writes to when it switches the thread out or
// delivers a signal. We put a marker there; while it is intact, no switch has happened.
//
//   RSEQ      libc has registered the area. The marker, in rseq_cs, is the address of a descriptor whose range contains
//             no code: the kernel resets it to null. Kernels 6.19 and later no longer do so if a system call blocks.
//   RSEQ_OWN  libc leaves registration to us. The marker is a node id that no node has: the kernel overwrites it.
//
// Neither is used before probe.c has tested it.

#include "taskclock.h"

#include <linux/mman.h>

struct area {
    uint32_t cpu_id_start;
    int32_t cpu_id;
    uint64_t rseq_cs;
    uint32_t flags, node_id;
    uint64_t unused;
} __attribute__((aligned(32)));

struct descriptor {
    uint32_t version, flags;
    uint64_t start_ip, post_commit_offset, abort_ip;
};

// glibc 2.35 and later. The size is 0 if GLIBC_TUNABLES disables registration.
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

// An area that we registered must outlive its thread, because the kernel may write to it until the thread is gone.
struct area_slot {
    int32_t tid;
    struct area area;
};

// ---- areas

uint32_t rseq_area_length(int backend) {
    uint32_t legacy = sizeof(struct area), libc = backend == BACKEND_RSEQ ? __rseq_size : 0;
    return libc > legacy ? libc : legacy;
}

static volatile uint64_t *marker_in(struct area *area, int backend) {
    // The marker of RSEQ_OWN covers flags, which stay 0, and node_id.
    return backend == BACKEND_RSEQ ? &area->rseq_cs : (volatile uint64_t *)&area->flags;
}

volatile uint64_t *rseq_register(void *memory, uint32_t length, int backend) {
    volatile struct area *area = memory;
    area->cpu_id_start = 0;
    area->cpu_id = -1;
    area->rseq_cs = 0;
    area->flags = area->node_id = 0;
    if (SYSCALL(__NR_rseq, area, length, 0, RSEQ_SIGNATURE) != 0) return 0;
    return marker_in(memory, backend);
}

static volatile uint64_t *register_own_area(void) {
    struct area_slot *slot = claim_slot(&process.areas, sizeof *slot, own_tid());
    if (!slot) return 0;
    volatile uint64_t *marker = rseq_register(&slot->area, sizeof slot->area, BACKEND_RSEQ_OWN);
    if (!marker) release_slot(slot);
    return marker;
}

volatile uint64_t *rseq_marker_address(int backend) {
    if (backend == BACKEND_RSEQ_OWN) return register_own_area();
    struct area *area = (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
    return area->cpu_id >= 0 ? marker_in(area, backend) : 0;
}

// ---- markers

// Sets the marker unless it is set already: it must not change, because threads compare with it.
static int set_marker(uint64_t marker) {
    uint64_t none = 0;
    return __atomic_compare_exchange_n(&process.inverted_marker, &none, ~marker, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// The kernel kills the process unless the 4 bytes before a descriptor's abort_ip are the signature. So both are in
// private memory, which is never unmapped and not backed by a file that could be truncated.
static int make_descriptor(void) {
    if (__atomic_load_n(&process.inverted_marker, __ATOMIC_ACQUIRE)) return 1;
    char *memory = map_pages(PAGE);
    if (!memory) return 0;
    struct descriptor *descriptor = (struct descriptor *)memory;
    uint32_t *signature = (uint32_t *)(memory + 2 * sizeof *descriptor);
    *signature = RSEQ_SIGNATURE;
    descriptor->start_ip = descriptor->abort_ip = (uint64_t)(signature + 1);
    SYSCALL(__NR_mprotect, memory, PAGE, PROT_READ);
    if (!set_marker((uint64_t)descriptor)) SYSCALL(__NR_munmap, memory, PAGE);
    return 1;
}

// ---- checks before a marker is tested

static int is_listed(const char *path, const char *name) {
    char text[256];
    long length = read_file(path, text, sizeof text - 1);
    for (long i = 0; i < length; i++) {
        long k = 0;
        while (name[k] && i + k < length && text[i + k] == name[k]) k++;
        int starts = i == 0 || text[i - 1] == ' ';
        int ends = i + k == length || text[i + k] == ' ' || text[i + k] == '\n';
        if (!name[k] && starts && ends) return 1;
    }
    return 0;
}

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"

// The counter is reliable if the kernel keeps time with it, or if the processor guarantees that its rate is constant
// and that it never stops, and the kernel still lists it.
static int counter_is_reliable(void) {
    if (is_listed(CLOCKSOURCE "current_clocksource", COUNTER_CLOCKSOURCE)) return 1;
    return counter_is_invariant() && is_listed(CLOCKSOURCE "available_clocksource", COUNTER_CLOCKSOURCE);
}

// Returns the shortest time of several tries in which the counter, or else the kernel's clock, is read 16 times.
static int64_t time_of_reads(int of_counter) {
    enum { TRIES = 5, READS = 16 };
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        int64_t start = raw_clock_nanos();
        for (int k = 0; k < READS; k++) of_counter ? (void)counter() : (void)clock_nanos(OWN_SCHED);
        int64_t took = raw_clock_nanos() - start;
        if (took < least) least = took;
    }
    return least;
}

// A hypervisor may intercept the counter. On processors whose counter has an erratum, aarch64 kernels do so, too
// (Documentation/arch/arm64/silicon-errata.rst).
static int counter_is_slow(void) { return time_of_reads(1) >= time_of_reads(0); }

// Creates the marker. Whether libc registers an area never changes in a process, so only one of the two markers is ever
// created; otherwise the kernel could mistake a node id for the address of a descriptor.
int rseq_prepare(int backend) {
    int libc_registers = &__rseq_offset && &__rseq_size && __rseq_size != 0;
    if (backend == BACKEND_RSEQ && !libc_registers) return PROBE_LIBC_UNREGISTERED;
    if (backend == BACKEND_RSEQ_OWN && libc_registers) return PROBE_LIBC_REGISTERED;
    if (counter_is_forbidden()) return PROBE_COUNTER_FORBIDDEN;
    if (!counter_is_reliable()) return PROBE_COUNTER_UNRELIABLE;
    if (counter_is_slow()) return PROBE_COUNTER_SLOW;
    if (backend == BACKEND_RSEQ) return make_descriptor() ? PROBE_USABLE : PROBE_OUT_OF_MEMORY;
    set_marker(0x4000ffffull << 32);
    return PROBE_USABLE;
}
