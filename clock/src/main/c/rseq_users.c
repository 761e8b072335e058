// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Finds other code in this process that uses restartable sequences. Before it aborts a sequence, the kernel demands
// that the signature with which the area was registered precedes the abort handler, and whoever registers an area
// passes that signature. So such code contains it, whether or not it is linked statically. It is searched for in the
// code of all mapped files except the C library, which contains it because it registers the areas. Code that only reads
// ids in the area is not found: it must expect that there are none.

#include "maps.h"
#include "taskclock.h"

// The inverse, so that our own copies do not contain the signature.
static const volatile uint32_t inverted_signature = ~RSEQ_SIGNATURE;

uint32_t rseq_signature(void) { return ~inverted_signature; }

enum { CHUNK = 16 * PAGE };

// How many libraries had been loaded when all mapped files were searched last, and the first user that was found.
static int64_t searched_libraries = -1;
static const char *user;

static int copy_loads(struct library_info *library, size_t size, void *into) {
    (void)size;
    *(int64_t *)into = (int64_t)library->loads;
    return 1;  // no further libraries
}

// Returns how many libraries have been loaded so far; -1 if unknown.
static int64_t library_loads(void) {
    int64_t loads = -1;
    if (&dl_iterate_phdr) dl_iterate_phdr(copy_loads, &loads);
    return loads;
}

static const char *file_name(const char *path) {
    const char *name = path;
    for (; *path; path++)
        if (*path == '/') name = path + 1;
    return name;
}

// The dynamic linker registers the area of the first thread, and libc those of all others.
static int is_libc(const char *path) {
    const char *name = file_name(path);
    return starts_with(name, "libc.so.6") || starts_with(name, "libc-2.") || starts_with(name, "ld-linux-") ||
           starts_with(name, "ld-2.");
}

// Returns whether the code contains the signature; -1 if we may not read it. Chunks overlap by three bytes.
static int has_signature(const struct mapping *code, char *chunk) {
    uint32_t signature = rseq_signature();
    uint64_t next = code->start;
    while (next + sizeof signature <= code->end) {
        uint64_t length = code->end - next < CHUNK ? code->end - next : CHUNK;
        long error = copy_memory(next, chunk, length);
        // The file is shorter than its mapping, so there is no code here.
        if (error == -EFAULT) return 0;
        if (error) return -1;
        for (uint64_t i = 0; i + sizeof signature <= length; i++) {
            uint32_t word;
            __builtin_memcpy(&word, chunk + i, sizeof word);
            if (word == signature) return 1;
        }
        next += length - (sizeof signature - 1);
        if (length < CHUNK) return 0;
    }
    return 0;
}

static const char *search(char *memory) {
    struct lines in;
    struct mapping m;
    if (!open_maps(&in)) return "unknown, because /proc/self/maps cannot be read";
    int result = 0;
    while (!result && next_mapping(&in, &m))
        if (m.permissions[2] == 'x' && m.inode && !is_libc(m.path))
            result = m.permissions[0] == 'r' ? has_signature(&m, memory) : 1;
    close_maps(&in);
    if (result < 0) return "unknown, because process_vm_readv is not permitted";
    if (!result) return 0;
    // A name may contain any character.
    char *to = memory;
    for (const char *c = m.path; *c; c++) *to++ = *c >= ' ' && *c <= '~' ? *c : '?';
    *to = 0;
    return memory;
}

// Two threads may search at the same time; both find the same. A library that is unloaded later remains a user.
// dl_iterate_phdr takes a lock of the dynamic linker.
const char *rseq_user(void) {
    int64_t loads = library_loads();
    const char *found = __atomic_load_n(&user, __ATOMIC_ACQUIRE);
    if (found || (loads >= 0 && loads == __atomic_load_n(&searched_libraries, __ATOMIC_ACQUIRE))) return found;
    char *memory = map_pages(CHUNK);
    found = memory ? search(memory) : "unknown, because memory is exhausted";
    if (memory && found != memory) SYSCALL(__NR_munmap, memory, CHUNK);
    if (found && found == memory) __atomic_store_n(&user, found, __ATOMIC_RELEASE);
    if (!found) __atomic_store_n(&searched_libraries, loads, __ATOMIC_RELEASE);
    return found;
}
