// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// All architecture-specific code. A port adds a block here and changes nothing else.
//
// The other files do not assume that a processor executes loads and stores in order. Two kinds of order exist:
//
//   Between threads, C11 atomics order accesses; the comment at each shared variable says which ones.
//
//   Between a thread and the kernel that interrupts it, no barrier is needed: an exception is taken between two
//   instructions in program order. What the processor executed early beyond that point is discarded and executed again
//   afterwards. So the counter cannot be read on one side of a context switch and the marker on the other without the
//   reading noticing, although cntvct_el0 without isb, and rdtsc, may be read early relative to other instructions.

#ifndef TASKCLOCK_ARCH_H
#define TASKCLOCK_ARCH_H

#if defined(__x86_64__)

#define ARCHITECTURE "x86_64"
enum { MAX_KERNEL_PAGE = 4096 };
#define COUNTER_CLOCKSOURCE "tsc"
#define RSEQ_SIGNATURE 0x53053053  // the same as glibc uses

static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

// Calls clone(2) with a new stack and runs run(argument), which must not return, in the child. The child inherits the
// registers, so r12 and r13 pass the function and its argument.
static inline long clone_onto(void *stack_top, long flags, void (*run)(void *), void *argument) {
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    register void (*r12)(void *) __asm__("r12") = run;
    register void *r13 __asm__("r13") = argument;
    long result;
    __asm__ volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xor %%ebp, %%ebp\n\t"
        "mov %%r13, %%rdi\n\t"
        "call *%%r12\n\t"
        "ud2\n"
        "1:"
        : "=a"(result)
        : "a"((long)__NR_clone), "D"(flags), "S"(stack_top), "d"(0L), "r"(r10), "r"(r8), "r"(r12), "r"(r13)
        : "rcx", "r11", "memory");
    return result;
}

// Reads the time-stamp counter. rdtsc is not ordered with surrounding instructions, but it is ordered with interrupts,
// which is all we need.
static inline uint64_t counter(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static inline void cpuid(uint32_t leaf, uint32_t *a, uint32_t *d) {
    uint32_t b, c = 0;
    *a = leaf;
    __asm__("cpuid" : "+a"(*a), "=b"(b), "+c"(c), "=d"(*d));
}

// The rate is not known in advance.
static inline uint64_t nominal_hertz(void) { return 0; }

// Returns whether the processor guarantees that the counter has a constant rate and never stops (leaf 0x80000007, edx
// bit 8).
static inline int counter_is_invariant(void) {
    uint32_t a, d;
    cpuid(0x80000000, &a, &d);
    if (a < 0x80000007) return 0;
    cpuid(0x80000007, &a, &d);
    return d >> 8 & 1;
}

#elif defined(__aarch64__) && defined(__AARCH64EL__)

#define ARCHITECTURE "aarch64"
enum { MAX_KERNEL_PAGE = 65536 };  // 4, 16, or 64 KB
#define COUNTER_CLOCKSOURCE "arch_sys_counter"
#define RSEQ_SIGNATURE 0xd428bc00  // the same as glibc uses

static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

// As above. x19 and x20 pass the function and its argument.
static inline long clone_onto(void *stack_top, long flags, void (*run)(void *), void *argument) {
    register long x8 __asm__("x8") = __NR_clone;
    register long x0 __asm__("x0") = flags;
    register void *x1 __asm__("x1") = stack_top;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = 0;
    register void (*x19)(void *) __asm__("x19") = run;
    register void *x20 __asm__("x20") = argument;
    __asm__ volatile(
        "svc #0\n\t"
        "cbnz x0, 1f\n\t"
        "mov x29, xzr\n\t"
        "mov x30, xzr\n\t"
        "mov x0, x20\n\t"
        "blr x19\n\t"
        "brk #0\n"
        "1:"
        : "+r"(x0)
        : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19), "r"(x20)
        : "memory");
    return x0;
}

// Reads the generic timer. It has a constant rate and never stops (Arm ARM D12.1), but its steps are coarse: 40 ns at
// 25 MHz, 1 ns on recent processors. A barrier (isb), or cntvctss_el0 on processors that have it, would order the read
// with surrounding instructions, which is not needed; see above.
static inline uint64_t counter(void) {
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value)::"memory");
    return value;
}

// The rate according to the firmware, which may be wrong.
static inline uint64_t nominal_hertz(void) {
    uint64_t value;
    __asm__("mrs %0, cntfrq_el0" : "=r"(value));
    return value;
}

// The kernel lists the counter only if it has a constant rate.
static inline int counter_is_invariant(void) { return 1; }

#else
#error "TaskClock's native library has been ported only to x86_64 and little-endian aarch64"
#endif

// prctl(PR_SET_TSC) can make reading the counter raise SIGSEGV in a thread and in the threads that it starts. It exists
// on aarch64 since Linux 6.12.
static inline int counter_is_forbidden(void) {
    enum { GET_TSC = 25, TSC_SIGSEGV = 2 };  // PR_GET_TSC, PR_TSC_SIGSEGV
    int32_t mode = 0;
    return system_call(__NR_prctl, GET_TSC, (long)&mode, 0, 0, 0, 0) == 0 && mode == TSC_SIGSEGV;
}

#endif
