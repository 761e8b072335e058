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

#else
#error "TaskClock's native half has not been ported to this processor"
#endif

#endif
