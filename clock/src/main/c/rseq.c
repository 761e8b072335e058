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
//   RSEQ_TAKE  like RSEQ_OWN, but libc has registered an area. Each thread replaces it by one of ours when it first
//             needs a base, and gives it back when it reads after the backend was switched off. When it ends, the
//             kernel forgets its area. glibc does not register those of threads that it starts; sched_getcpu then asks
//             the vDSO (aarch64: the kernel).
//
// None is used before probe.c has tested it.

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

static uint32_t libc_length;  // of the areas that libc registers, which __rseq_size does not tell; 0 until it is known

static struct area *libc_area(void) { return (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset); }

static long register_area(volatile void *area, uint32_t length) {
    return SYSCALL(__NR_rseq, area, length, 0, rseq_signature());
}

static long unregister_area(volatile void *area, uint32_t length) {
    enum { UNREGISTER = 1 };  // RSEQ_FLAG_UNREGISTER
    return SYSCALL(__NR_rseq, area, length, UNREGISTER, rseq_signature());
}

// Registering an area again fails with EBUSY if the length is the right one, and otherwise with EINVAL. Both change
// nothing.
static uint32_t length_of_libc_area(void) {
    enum { MOST = 1024 };
    if (libc_area()->cpu_id < 0) return READ(libc_length);
    for (uint32_t length = sizeof(struct area); length <= MOST; length++)
        if (register_area(libc_area(), length) == -EBUSY) return length;
    return 0;
}

uint32_t rseq_area_length(int backend) {
    uint32_t legacy = sizeof(struct area), libc = backend == BACKEND_RSEQ ? __rseq_size : 0;
    if (backend == BACKEND_RSEQ_TAKE) libc = READ(libc_length);
    return libc > legacy ? libc : legacy;
}

static volatile uint64_t *marker_in(struct area *area, int backend) {
    // The markers of the other backends cover flags, which stay 0, and node_id.
    return backend == BACKEND_RSEQ ? &area->rseq_cs : (volatile uint64_t *)&area->flags;
}

volatile uint64_t *rseq_register(void *memory, uint32_t length, int backend) {
    volatile struct area *area = memory;
    area->cpu_id_start = 0;
    area->cpu_id = -1;
    area->rseq_cs = 0;
    area->flags = area->node_id = 0;
    if (register_area(area, length) != 0) return 0;
    if (backend == BACKEND_RSEQ_TAKE && unregister_area(area, length) != 0) return 0;
    if (backend == BACKEND_RSEQ_TAKE && register_area(area, sizeof *area) != 0) return 0;
    return marker_in(memory, backend);
}

static volatile uint64_t *register_own_area(void) {
    struct area_slot *slot = claim_slot(&process.areas, sizeof *slot, own_tid());
    if (!slot) return 0;
    volatile uint64_t *marker = rseq_register(&slot->area, sizeof slot->area, BACKEND_RSEQ_OWN);
    if (!marker) release_slot(slot);
    return marker;
}

// A thread whose area is in use by somebody else keeps it.
static volatile uint64_t *take_area(void) {
    struct area *libc = libc_area();
    uint32_t length = READ(libc_length);
    int is_registered = READ(libc->cpu_id) >= 0;
    if (is_registered && (READ(libc->rseq_cs) || unregister_area(libc, length) != 0)) return 0;
    volatile uint64_t *marker = register_own_area();
    if (!marker && is_registered) register_area(libc, length);
    return marker;
}

volatile uint64_t *rseq_marker_address(int backend) {
    if (backend == BACKEND_RSEQ_OWN) return register_own_area();
    if (backend == BACKEND_RSEQ_TAKE) return take_area();
    struct area *area = libc_area();
    return area->cpu_id >= 0 ? marker_in(area, backend) : 0;
}

int rseq_give_back(volatile uint64_t *marker) {
    uint32_t length = READ(libc_length);
    if (!length || marker == marker_in(libc_area(), BACKEND_RSEQ)) return 0;
    struct area *area = (struct area *)((char *)marker - offsetof(struct area, flags));
    if (unregister_area(area, sizeof *area) != 0) return 0;
    release_slot((char *)area - offsetof(struct area_slot, area));
    // Also if libc had not registered it, because the thread was started by one whose area was taken.
    register_area(libc_area(), length);
    return 1;
}

// ---- markers

// The marker must not change, because threads compare with it. If they used a node id in one place and a descriptor in
// another, the kernel could mistake the one for the other.
int rseq_use_marker(uint64_t marker) {
    uint64_t none = 0;
    __atomic_compare_exchange_n(&process.inverted_marker, &none, ~marker, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    return process_marker() == marker;
}

static struct descriptor *descriptor;

// The kernel kills the process unless the 4 bytes before a descriptor's abort_ip are the signature. So both are in
// private memory, which is never unmapped and not backed by a file that could be truncated.
static int make_descriptor(void) {
    if (__atomic_load_n(&descriptor, __ATOMIC_ACQUIRE)) return 1;
    char *memory = map_pages(PAGE);
    if (!memory) return 0;
    struct descriptor *made = (struct descriptor *)memory, *none = 0;
    uint32_t *signature = (uint32_t *)(memory + 2 * sizeof *made);
    *signature = rseq_signature();
    made->start_ip = made->abort_ip = (uint64_t)(signature + 1);
    SYSCALL(__NR_mprotect, memory, PAGE, PROT_READ);
    if (!__atomic_compare_exchange_n(&descriptor, &none, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        SYSCALL(__NR_munmap, memory, PAGE);
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

// Whether libc registers an area never changes in a process.
int rseq_prepare(int backend, uint64_t *marker) {
    int libc_registers = &__rseq_offset && &__rseq_size && __rseq_size != 0;
    if (backend != BACKEND_RSEQ_OWN && !libc_registers) return PROBE_LIBC_UNREGISTERED;
    if (backend == BACKEND_RSEQ_OWN && libc_registers) return PROBE_LIBC_REGISTERED;
    if (counter_is_forbidden()) return PROBE_COUNTER_FORBIDDEN;
    if (!counter_is_reliable()) return PROBE_COUNTER_UNRELIABLE;
    if (counter_is_slow()) return PROBE_COUNTER_SLOW;
    if (backend == BACKEND_RSEQ) {
        if (!make_descriptor()) return PROBE_OUT_OF_MEMORY;
        *marker = (uint64_t)descriptor;
        return PROBE_USABLE;
    }
    *marker = 0x4000ffffull << 32;
    if (backend == BACKEND_RSEQ_OWN) return PROBE_USABLE;
    if (rseq_user()) return PROBE_RSEQ_USED;
    WRITE(libc_length, length_of_libc_area());
    return READ(libc_length) ? PROBE_USABLE : PROBE_LIBC_AREA;
}
