// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Everything that differs between processors. A port adds its own block here and nothing elsewhere.

#ifndef TASKCLOCK_ARCH_H
#define TASKCLOCK_ARCH_H

#if defined(__x86_64__)

#define VDSO_CLOCK_GETTIME "__vdso_clock_gettime"

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

// The time-stamp counter. Not ordered with what stands around it, but with interrupts, and that is what is needed.
static inline uint64_t counter(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

// Whether the processor promises that the counter runs at one rate and never stops: bit 8 of edx in leaf 0x80000007.
static inline int counter_is_invariant(void) {
    uint32_t a = 0x80000000, b, c = 0, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (a < 0x80000007) return 0;
    a = 0x80000007, c = 0;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return d >> 8 & 1;
}

#else
#error "TaskClock's native half has not been ported to this processor"
#endif

#endif
