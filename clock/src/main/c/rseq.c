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
// Neither is taken on trust: probe() blocks several times, and one marker that is still there rejects the way.

#include "taskclock.h"

#include <linux/mman.h>
#include <linux/time_types.h>

enum { PAGE = 4096, SLOT = 64, PROBES = 16, OWNERS_TO_ASK = 16 };
enum { SIGNATURE = 0x53053053 };  // of glibc's registration on x86; ours is the same

struct area {
    uint32_t cpu_id_start;
    int32_t cpu_id;
    uint64_t rseq_cs;
    uint32_t flags, node_id;
    uint64_t unused;
};

struct descriptor {
    uint32_t version, flags;
    uint64_t start_ip, post_commit_offset, abort_ip;
};

// glibc 2.35 and later. The size is 0 where glibc was told not to register (GLIBC_TUNABLES).
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

uint64_t rseq_marker;

// ---- areas of our own

// The kernel may write to an area for as long as its thread lives, so it must outlive the thread, and nothing tells us
// when that ends. Areas are in pages that are never given back, and are reused once no thread has the id any more.
struct slot {
    struct area area;
    int32_t tid;
    char padding[SLOT - sizeof(struct area) - sizeof(int32_t)];
} __attribute__((aligned(SLOT)));

struct slots {
    struct slots *older;
    char padding[SLOT - sizeof(void *)];
    struct slot slot[PAGE / SLOT - 1];
};

enum { SLOTS_IN_PAGE = PAGE / SLOT - 1 };

static struct slots *pool, *asked_last;

static int take(struct slot *slot, int32_t owner, int32_t tid) {
    return __atomic_compare_exchange_n(&slot->tid, &owner, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}


// The newest page may have slots that nobody had yet. Of the others a few are asked each time, in turn: so a new thread
// costs the same however many there are. One from each page, as pages may be full of threads that stay; so where half of
// all slots are free, hardly a thread misses them and makes the pool larger.
static struct slot *free_slot(struct slots *newest, int32_t tid) {
    for (int i = 0; newest && i < SLOTS_IN_PAGE; i++)
        if (READ(newest->slot[i].tid) == 0 && take(&newest->slot[i], 0, tid)) return &newest->slot[i];
    struct slots *page = __atomic_load_n(&asked_last, __ATOMIC_ACQUIRE);
    struct slot *found = 0;
    for (int i = 0; newest && !found && i < OWNERS_TO_ASK; i++) {
        page = page && READ(page->older) ? READ(page->older) : newest;
        struct slot *slot = &page->slot[(uint32_t)(tid + i) % SLOTS_IN_PAGE];
        int32_t owner = READ(slot->tid);
        // One with our own id is of a thread before us: we have none yet.
        if ((owner == 0 || owner == tid || thread_is_gone(owner)) && take(slot, owner, tid)) found = slot;
    }
    __atomic_store_n(&asked_last, page, __ATOMIC_RELEASE);
    return found;
}

// A page more only where nobody made one since we looked: threads that start at one moment share one, not have one each.
static struct slot *own_slot(int32_t tid) {
    for (;;) {
        struct slots *newest = __atomic_load_n(&pool, __ATOMIC_ACQUIRE);
        struct slot *slot = free_slot(newest, tid);
        if (slot) return slot;
        long memory = SYSCALL(__NR_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory < 0 && memory > -PAGE) return 0;
        struct slots *page = (struct slots *)memory;
        WRITE(page->slot[0].tid, tid);
        WRITE(page->older, newest);
        if (__atomic_compare_exchange_n(&pool, &newest, page, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return &page->slot[0];
        SYSCALL(__NR_munmap, memory, PAGE);
    }
}

static struct area *own_area(void) {
    int32_t tid = own_tid();
    struct slot *slot = own_slot(tid);
    if (!slot) return 0;
    volatile struct area *area = &slot->area;
    area->cpu_id = -1;
    area->rseq_cs = 0;
    area->flags = area->node_id = 0;
    if (SYSCALL(__NR_rseq, area, sizeof *area, 0, SIGNATURE) == 0) return &slot->area;
    __atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
    return 0;
}

// ---- markers

// Whoever comes first sets it, and nobody after: threads compare with it.
static int set_marker(uint64_t marker) {
    uint64_t none = 0;
    return __atomic_compare_exchange_n(&rseq_marker, &none, marker, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// The kernel checks a descriptor that it finds: the word before abort_ip must be the signature, or it ends the process. So
// both are in memory that is ours alone, never unmapped, and not backed by a file that could be cut short.
static int make_descriptor(void) {
    if (__atomic_load_n(&rseq_marker, __ATOMIC_ACQUIRE)) return 1;
    long memory = SYSCALL(__NR_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0 && memory > -PAGE) return 0;
    struct descriptor *descriptor = (struct descriptor *)memory;
    uint32_t *signature = (uint32_t *)(memory + SLOT);
    *signature = SIGNATURE;
    descriptor->start_ip = descriptor->abort_ip = (uint64_t)(signature + 1);
    SYSCALL(__NR_mprotect, memory, PAGE, PROT_READ);
    if (!set_marker((uint64_t)descriptor)) SYSCALL(__NR_munmap, memory, PAGE);
    return 1;
}

// Where this thread's marker goes; null if it has no area, or the kernel does not know of it.
volatile uint64_t *rseq_marker_place(int rung) {
    if (rung == RUNG_RSEQ) {
        struct area *area = (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
        return area->cpu_id >= 0 ? &area->rseq_cs : 0;
    }
    struct area *area = own_area();
    return area ? (volatile uint64_t *)&area->flags : 0;  // flags, which stay 0, and node_id
}

// ---- the probe

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
    if (is_listed(CLOCKSOURCE "current_clocksource", "tsc")) return 1;
    return counter_is_invariant() && is_listed(CLOCKSOURCE "available_clocksource", "tsc");
}

static void block(void) {
    struct __kernel_timespec time = {0, 100000};
    SYSCALL(__NR_nanosleep, &time, 0);
}

// Counts the markers that outlive being blocked, or are not seen to go; -1 if the thread cannot be kept on one processor,
// as being moved to another would remove them too.
int rseq_kept_markers(volatile uint64_t *place) {
    char before[1024], pinned[1024];
    long length = SYSCALL(__NR_sched_getaffinity, 0, sizeof before, before);
    uint32_t cpu = 0;
    if (length <= 0 || SYSCALL(__NR_getcpu, &cpu, 0, 0) != 0 || cpu >= sizeof pinned * 8) return -1;
    for (uint32_t i = 0; i < sizeof pinned; i++) pinned[i] = 0;
    pinned[cpu / 8] = (char)(1 << cpu % 8);
    if (SYSCALL(__NR_sched_setaffinity, 0, length, pinned) != 0) return -1;
    int gone = 0, kept = 0;
    uint64_t marker = READ(rseq_marker);
    for (int i = 0; i < 2 * PROBES && gone + kept < PROBES; i++) {
        int64_t switches = switches_of_thread();
        *place = marker;
        block();
        if (*place != marker) gone++;
        // Where the time is over before the thread has given way, as happens in guests, there is no switch to be noticed.
        else if (switches_of_thread() != switches) kept++;
    }
    *place = 0;
    SYSCALL(__NR_sched_setaffinity, 0, length, before);
    return PROBES - gone;
}

// What can be said before a marker is tried, and the marker itself. Whether libc registers never changes in a process, so
// only one of the two markers is ever made: the other would be taken for the address of a descriptor.
int rseq_prepare(int rung) {
    int libc_registers = &__rseq_offset && &__rseq_size && __rseq_size != 0;
    if (rung == RUNG_RSEQ && !libc_registers) return PROBE_LIBC_DOES_NOT;
    if (rung == RUNG_RSEQ_OWN && libc_registers) return PROBE_LIBC_DOES;
    if (!counter_is_steady()) return PROBE_COUNTER;
    if (rung == RUNG_RSEQ) return make_descriptor() ? PROBE_USABLE : PROBE_MEMORY;
    set_marker(0x4000ffffull << 32);
    return PROBE_USABLE;
}
