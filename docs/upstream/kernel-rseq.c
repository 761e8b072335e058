// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Shows whether the kernel resets rseq_cs of an area of 32 bytes when the thread blocks, and rewrites node_id.
// Build: cc -O1 -static kernel-rseq.c. Run: GLIBC_TUNABLES=glibc.pthread.rseq=0 ./a.out

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define SIGNATURE 0x53053053

static struct {
    uint32_t cpu_id_start, cpu_id;
    uint64_t rseq_cs;
    uint32_t flags, node_id;
    uint64_t unused;
} area __attribute__((aligned(32)));

static struct {
    uint32_t version, flags;
    uint64_t start_ip, post_commit_offset, abort_ip;
} descriptor __attribute__((aligned(32)));

// Contains no code that runs: the length of the critical section is 0.
static uint32_t abort_code[2] = {SIGNATURE, 0};

static void block(void) {
    struct timespec time = {0, 2000000};
    nanosleep(&time, 0);
}

int main(void) {
    enum { TIMES = 20, NO_NODE = 0x4000ffff };
    struct utsname name;
    uname(&name);
    if (syscall(SYS_rseq, &area, sizeof area, 0, SIGNATURE) != 0) {
        printf("%s: the area cannot be registered\n", name.release);
        return 1;
    }
    descriptor.start_ip = descriptor.abort_ip = (uint64_t)&abort_code[1];
    int kept_rseq_cs = 0, kept_node_id = 0;
    for (int i = 0; i < TIMES; i++) {
        __atomic_store_n(&area.rseq_cs, (uint64_t)&descriptor, __ATOMIC_RELAXED);
        __atomic_store_n(&area.node_id, NO_NODE, __ATOMIC_RELAXED);
        block();
        kept_rseq_cs += __atomic_load_n(&area.rseq_cs, __ATOMIC_RELAXED) != 0;
        kept_node_id += __atomic_load_n(&area.node_id, __ATOMIC_RELAXED) == NO_NODE;
    }
    printf("%s: after blocking, rseq_cs was kept %d times and node_id %d times of %d\n", name.release, kept_rseq_cs,
           kept_node_id, TIMES);
    return 0;
}
