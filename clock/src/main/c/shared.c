// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Makes all copies of the library in a process share the same per-thread state. The first copy maps a page with its
// function table under a name that appears in /proc/self/maps. Later copies find the page and use that table. The code
// stays mapped after the first copy's class loader is collected (-z nodelete).
//
// Any mapping can have that name, and we call the functions in the table. So a page is accepted only if it is mapped as
// publish_page maps it, its functions are in executable memory of one file, and that file is a copy of this library.

#include "maps.h"

#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/mman.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U  // Linux 6.3
#endif

#if !__STDC_HOSTED__
// Compilers may call this function to clear a structure, even without libc. The pointer is volatile, so that they do
// not replace the loop with a call.
__attribute__((visibility("hidden"))) void *memset(void *memory, int value, size_t length) {
    volatile char *bytes = memory;
    for (size_t i = 0; i < length; i++) bytes[i] = (char)value;
    return memory;
}
#endif

#define MAPPED_NAME "/memfd:" TASKCLOCK_ABI_NAME " (deleted)"

// Identifies a file as a copy of this library.
const char library_identity[] __attribute__((visibility("hidden"))) =
    "taskclock library, table of functions " TASKCLOCK_ABI_NAME;

// Finds the mapping that contains an address. Its strings are valid until the next line is read.
static int find_mapping(struct lines *in, const void *address, struct mapping *m) {
    if (!open_maps(in)) return 0;
    int found = 0;
    while (!found && next_mapping(in, m)) found = (uint64_t)address >= m->start && (uint64_t)address < m->end;
    close_maps(in);
    return found;
}

static int is_identity(const char *text, const struct mapping *m) {
    const char *ours = library_identity;
    for (; (uint64_t)text < m->end && *text == *ours; text++, ours++)
        if (!*ours) return 1;
    return 0;
}

// Returns whether the table in this page belongs to a copy of this library.
static int is_taskclock_page(const struct functions *page) {
    struct functions table;
    // The file behind the page may have been truncated.
    if (copy_memory((uint64_t)page, &table, sizeof table) == -EFAULT) return 0;
    if (page->magic != TASKCLOCK_MAGIC || page->abi != TASKCLOCK_ABI) return 0;
    if (page->size < sizeof *page || page->size > PAGE) return 0;
    struct lines in;
    struct mapping constants, code;
    if (!find_mapping(&in, page->identity, &constants)) return 0;
    if (constants.permissions[0] != 'r' || !constants.inode) return 0;
    if (!is_identity(page->identity, &constants)) return 0;
    if (!find_mapping(&in, (const void *)page->cpuNanos, &code)) return 0;
    if (!strings_equal(code.permissions, "r-xp") || code.inode != constants.inode) return 0;
    const uint64_t *pointer = (const uint64_t *)&page->cpuNanos;
    const uint64_t *end = (const uint64_t *)((const char *)page + page->size);
    for (; pointer < end; pointer++)
        if (*pointer < code.start || *pointer >= code.end) return 0;
    return 1;
}

const struct functions *find_shared_functions(struct sharing *sharing) {
    struct lines in;
    struct mapping m;
    const struct functions *found = 0;
    if (!open_maps(&in)) return 0;
    while (!found && next_mapping(&in, &m)) {
        if (!strings_equal(m.path, MAPPED_NAME)) continue;
        const struct functions *page = (const struct functions *)m.start;
        int is_one_page = m.offset == 0 && m.end - m.start <= MAX_KERNEL_PAGE;
        if (strings_equal(m.permissions, "r--p") && is_one_page && is_taskclock_page(page)) found = page;
        else sharing->foreign_pages++;
    }
    close_maps(&in);
    return found;
}

// Creates the file behind the page. Kernels since 6.3 may require MFD_NOEXEC_SEAL; older ones reject it.
static long create_file(void) {
    long fd = SYSCALL(__NR_memfd_create, TASKCLOCK_ABI_NAME, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    return fd == -EINVAL ? SYSCALL(__NR_memfd_create, TASKCLOCK_ABI_NAME, MFD_CLOEXEC) : fd;
}

static const struct functions *fail(const struct functions *own, struct sharing *sharing, const char *call,
                                    long error) {
    sharing->failed_call = call;
    sharing->error = (int)-error;
    return own;
}

// Publishes our table. The mapping is private, so a forked child has its own, and is made read-only afterward.
static const struct functions *publish_page(const struct functions *own, struct sharing *sharing) {
    long fd = create_file();
    if (fd < 0) return fail(own, sharing, "memfd_create", fd);
    long result = SYSCALL(__NR_ftruncate, fd, PAGE);
    const char *call = "ftruncate";
    if (result == 0) {
        call = "mmap";
        result = SYSCALL(__NR_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    }
    SYSCALL(__NR_close, fd);
    if (failed(result)) return fail(own, sharing, call, result);
    *(struct functions *)result = *own;
    long protection = SYSCALL(__NR_mprotect, result, PAGE, PROT_READ);
    if (protection == 0) return (const struct functions *)result;
    SYSCALL(__NR_munmap, result, PAGE);
    return fail(own, sharing, "mprotect", protection);
}

// Returns an earlier copy's table, or else publishes ours. Callers must hold a lock, because two copies loaded at the
// same time would not see each other. Library.java holds a lock that all copies share.
const struct functions *shared_functions(const struct functions *own, struct sharing *sharing) {
    const struct functions *found = find_shared_functions(sharing);
    return found ? found : publish_page(own, sharing);
}
