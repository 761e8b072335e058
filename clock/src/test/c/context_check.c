// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// context_check LIBRARY
//
// Tests what profilers find in this process, without a JVM. LIBRARY is the one that defines the variable.

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "check.h"
#include "taskclock.h"

// The beginning of a mapping named OTEL_CTX.
struct header {
    char signature[8];
    uint32_t version, length;
    int64_t published_at;
    const char *payload;
};

static const struct header *published(void) {
    static char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    unsigned long start, found = 0;
    while (fgets(line, sizeof line, maps)) {
        if (!strstr(line, "OTEL_CTX")) continue;
        CHECK(!found && sscanf(line, "%lx", &start) == 1);
        found = start;
    }
    fclose(maps);
    return (const struct header *)found;
}

static void check_published(const char *payload) {
    const struct header *h = published();
    CHECK(h && !memcmp(h->signature, "OTEL_CTX", 8) && h->version == 2 && h->published_at > 0);
    CHECK(h->length == strlen(payload) && !memcmp(h->payload, payload, h->length));
}

static void check_process_context(void) {
    static const char too_long[PAGE];
    CHECK(!published());
    CHECK(publish_context("first", 5) == 0);
    check_published("first");
    int64_t before = published()->published_at;
    for (int i = 0; i < 20; i++) {
        CHECK(publish_context("the second", 10) == 0);
        CHECK(published()->published_at > before);
        before = published()->published_at;
    }
    check_published("the second");
    CHECK(publish_context(too_long, sizeof too_long) == ENOSPC);
    check_published("the second");
}

static void run_in_child(void (*run)(void)) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        run();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void publish_in_child(void) {
    // qemu-user gives forked children all mappings.
    CHECK(IS_EMULATED || !published());
    if (published()) return;
    CHECK(publish_context("child", 5) == 0);
    check_published("child");
}

static void publish_beside_other(void) {
    int fd = (int)SYSCALL(__NR_memfd_create, "OTEL_CTX", 0);
    CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
    CHECK(mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) != MAP_FAILED);
    close(fd);
    CHECK(publish_context("child", 5) == EEXIST);
}

static void *library;

static void **variable(void) {
    void **address = dlsym(library, "otel_thread_ctx_v1");
    CHECK(address);
    return address;
}

enum { THREADS = 20, ROUNDS = 10 };
static pthread_barrier_t all_have_records;

static void *use_context(void *into) {
    CHECK(!*variable());
    uint8_t *record = thread_context();
    CHECK(record && *variable() == record && (uintptr_t)record % 8 == 0);
    for (int i = 0; i < 28; i++) CHECK(!record[i]);
    memset(record, 0xff, CONTEXT_LENGTH);
    // A thread that detaches from the JVM and attaches again.
    CHECK(thread_context() == record && *variable() == record && !record[24]);
    memset(record, 0xff, CONTEXT_LENGTH);
    *(void **)into = record;
    pthread_barrier_wait(&all_have_records);
    for (int i = 0; i < CONTEXT_LENGTH; i++) CHECK(record[i] == 0xff);
    return 0;
}

static void run_threads(void **records) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(threads + i, 0, use_context, records + i) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], 0) == 0);
}

// Threads that run at the same time have different records. Those of ended threads are used again.
static void check_threads(void) {
    static void *first[THREADS], *later[THREADS];
    int reused = 0;
    CHECK(pthread_barrier_init(&all_have_records, 0, THREADS) == 0);
    run_threads(first);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < i; j++) CHECK(labs((char *)first[i] - (char *)first[j]) >= CONTEXT_LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        run_threads(later);
        for (int i = 0; i < THREADS; i++)
            for (int j = 0; j < THREADS; j++) reused += later[i] == first[j];
    }
    CHECK(reused > THREADS);
}

static void check_mounts(void) {
    void *own = *variable();
    CHECK(own);
    mount_context(-1);
    CHECK(*variable() == own);
    mount_context(0x7000);
    CHECK(*variable() == (void *)0x7000);
    mount_context(0);
    CHECK(!*variable());
    mount_context((int64_t)own);
    CHECK(*variable() == own);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    const char *definer;
    clock_init();
    CHECK(!context_variable_is_defined(&definer));
    CHECK(!start_contexts() && !thread_context());
    mount_context(0x7000);
    run_in_child(publish_beside_other);
    check_process_context();
    run_in_child(publish_in_child);

    library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
    CHECK(library);
    CHECK(context_variable_is_defined(&definer) && strstr(argv[1], strrchr(definer, '/')));
    CHECK(!*variable() && start_contexts());
    CHECK(thread_context() && *variable());
    check_mounts();
    check_threads();
    return 0;
}
