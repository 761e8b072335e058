// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// CPU time without a system call. Between two context switches a thread's CPU time grows like the time-stamp counter, so
// all that has to be known is whether a switch happened. Restartable sequences tell (include/uapi/linux/rseq.h): each
// thread has an area that the kernel writes to when it takes the thread off its processor or sends it a signal. We leave a
// marker there; while it is still there, no switch happened.
//
//   RSEQ      libc has registered the area. The marker is the address of a descriptor, in rseq_cs, whose range holds no
//             code: the kernel resets it to null. Kernels 6.19 and later no longer look when a system call blocks.
//   RSEQ_OWN  libc leaves registration to us. The marker is a node id that no node has: the kernel writes the right one.
//
// Neither is trusted before probe.c has seen it work.

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

// glibc 2.35 and later. The size is 0 where glibc was told not to register (GLIBC_TUNABLES).
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

// An area of our own must outlive its thread: the kernel may write to it until the thread is gone.
struct area_slot {
    int32_t tid;
    struct area area;
};

// ---- areas

uint32_t rseq_area_length(int rung) {
    uint32_t legacy = sizeof(struct area), libc = rung == RUNG_RSEQ ? __rseq_size : 0;
    return libc > legacy ? libc : legacy;
}

static volatile uint64_t *place_in(struct area *area, int rung) {
    // flags, which stay 0, and node_id
    return rung == RUNG_RSEQ ? &area->rseq_cs : (volatile uint64_t *)&area->flags;
}

volatile uint64_t *rseq_register(void *memory, uint32_t length, int rung) {
    volatile struct area *area = memory;
    area->cpu_id_start = 0;
    area->cpu_id = -1;
    area->rseq_cs = 0;
    area->flags = area->node_id = 0;
    if (SYSCALL(__NR_rseq, area, length, 0, RSEQ_SIGNATURE) != 0) return 0;
    return place_in(memory, rung);
}

static volatile uint64_t *place_in_own_area(void) {
    struct area_slot *slot = claim_slot(&process.areas, sizeof *slot, own_tid());
    if (!slot) return 0;
    volatile uint64_t *place = rseq_register(&slot->area, sizeof slot->area, RUNG_RSEQ_OWN);
    if (!place) leave_slot(slot);
    return place;
}

volatile uint64_t *rseq_marker_place(int rung) {
    if (rung == RUNG_RSEQ_OWN) return place_in_own_area();
    struct area *area = (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
    return area->cpu_id >= 0 ? place_in(area, rung) : 0;
}

// ---- markers

// Whoever comes first sets it, and nobody after: threads compare with it.
static int set_marker(uint64_t marker) {
    uint64_t none = 0;
    return __atomic_compare_exchange_n(&process.not_marker, &none, ~marker, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// The kernel checks a descriptor that it finds: the word before abort_ip must be the signature, or it ends the process. So
// both are in memory that is ours alone, never unmapped, and not backed by a file that could be cut short.
static int make_descriptor(void) {
    if (__atomic_load_n(&process.not_marker, __ATOMIC_ACQUIRE)) return 1;
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

// ---- what can be said before a marker is tried

static int is_listed(const char *path, const char *word) {
    char text[256];
    long length = read_file(path, text, sizeof text - 1);
    for (long i = 0; i < length; i++) {
        long k = 0;
        while (word[k] && i + k < length && text[i + k] == word[k]) k++;
        int starts = i == 0 || text[i - 1] == ' ';
        int ends = i + k == length || text[i + k] == ' ' || text[i + k] == '\n';
        if (!word[k] && starts && ends) return 1;
    }
    return 0;
}

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"

// Either the kernel keeps time by the counter; or the processor promises that it is constant and never stops, and the
// kernel, which would have struck it off its list, found nothing against it.
static int counter_is_steady(void) {
    if (is_listed(CLOCKSOURCE "current_clocksource", COUNTER_CLOCKSOURCE)) return 1;
    return counter_is_invariant() && is_listed(CLOCKSOURCE "available_clocksource", COUNTER_CLOCKSOURCE);
}

// Makes the marker. Whether libc registers never changes in a process, so only one of the two markers is ever made: the
// other would be taken for the address of a descriptor.
int rseq_prepare(int rung) {
    int libc_registers = &__rseq_offset && &__rseq_size && __rseq_size != 0;
    if (rung == RUNG_RSEQ && !libc_registers) return PROBE_LIBC_DOES_NOT;
    if (rung == RUNG_RSEQ_OWN && libc_registers) return PROBE_LIBC_DOES;
    if (counter_is_forbidden()) return PROBE_COUNTER_FORBIDDEN;
    if (!counter_is_steady()) return PROBE_COUNTER;
    if (rung == RUNG_RSEQ) return make_descriptor() ? PROBE_USABLE : PROBE_MEMORY;
    set_marker(0x4000ffffull << 32);
    return PROBE_USABLE;
}
