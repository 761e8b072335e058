// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Publishes what each thread works on, for profilers outside the process, as OpenTelemetry specifies:
//
//   OTEP 4947, Thread Context: a thread-local variable points to a record of the thread. context_variable.c defines the
//   variable. Java code writes the record (ContextRecord.java). A reader stops the thread, so the order in which other
//   processors see the writes does not matter.
//
//   OTEP 4719, Process Context: a mapping named OTEL_CTX contains the names of the keys in these records. Readers read
//   it at any time, and again if its time of publication has changed meanwhile.

#include "maps.h"
#include "taskclock.h"

#include <linux/elf.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/mman.h>
#include <linux/prctl.h>

#ifndef DT_GNU_HASH
#define DT_GNU_HASH 0x6ffffef5
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U  // Linux 6.3
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41  // Linux 5.17
#define PR_SET_VMA_ANON_NAME 0
#endif

// ---- symbols of loaded libraries

struct symbol {
    const char *name;
    uint64_t address;     // for a thread-local variable, its offset in the library's thread-local data
    const char *library;  // null if no library defines the symbol
};

// glibc relocates these pointers when it loads a library, musl does not.
static const void *pointer_in(const struct library_info *library, uint64_t pointer) {
    return (const void *)(pointer < library->address ? library->address + pointer : pointer);
}

static int is_defined(const Elf64_Sym *symbol, const char *strings, const char *name) {
    return symbol->st_shndx != SHN_UNDEF && strings_equal(strings + symbol->st_name, name);
}

// The table has a Bloom filter, which we skip, then the index of the first symbol for each hash, and then the hashes of
// all symbols, of which the last for an index is odd.
static const Elf64_Sym *find_by_gnu_hash(const uint32_t *table, const Elf64_Sym *symbols, const char *strings,
                                         const char *name) {
    uint32_t buckets = table[0], first = table[1], filter_words = table[2], hash = 5381;
    for (const char *c = name; *c; c++) hash = hash * 33 + (uint8_t)*c;
    const uint32_t *indexes = table + 4 + 2 * filter_words, *hashes = indexes + buckets;
    uint32_t i = buckets ? indexes[hash % buckets] : 0;
    if (i < first) return 0;
    for (;; i++) {
        uint32_t found = hashes[i - first];
        if ((found | 1) == (hash | 1) && is_defined(symbols + i, strings, name)) return symbols + i;
        if (found & 1) return 0;
    }
}

static const Elf64_Sym *find_in_table(const uint32_t *table, const Elf64_Sym *symbols, const char *strings,
                                      const char *name) {
    for (uint32_t i = 0; i < table[1]; i++)
        if (is_defined(symbols + i, strings, name)) return symbols + i;
    return 0;
}

static int find_in_library(struct library_info *library, size_t size, void *into) {
    (void)size;
    struct symbol *wanted = into;
    const Elf64_Phdr *headers = library->headers;
    const Elf64_Dyn *entry = 0;
    for (int i = 0; i < library->header_count; i++)
        if (headers[i].p_type == PT_DYNAMIC) entry = (const Elf64_Dyn *)(library->address + headers[i].p_vaddr);
    const Elf64_Sym *symbols = 0, *found = 0;
    const char *strings = 0;
    const uint32_t *table = 0, *gnu_table = 0;
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        const void *pointer = pointer_in(library, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB) symbols = pointer;
        if (entry->d_tag == DT_STRTAB) strings = pointer;
        if (entry->d_tag == DT_HASH) table = pointer;
        if (entry->d_tag == DT_GNU_HASH) gnu_table = pointer;
    }
    if (!symbols || !strings) return 0;
    if (gnu_table) found = find_by_gnu_hash(gnu_table, symbols, strings, wanted->name);
    else if (table) found = find_in_table(table, symbols, strings, wanted->name);
    if (!found) return 0;
    wanted->address = library->address + found->st_value;
    wanted->library = library->name;
    return 1;  // no further libraries
}

static struct symbol find_symbol(const char *name) {
    struct symbol found = {.name = name};
    if (&dl_iterate_phdr) dl_iterate_phdr(find_in_library, &found);
    return found;
}

int context_variable_is_defined(const char **library) {
    *library = find_symbol("otel_thread_ctx_v1").library;
    return *library != 0;
}

// ---- records of threads

// The function of context_variable.c, once its library is loaded.
static void **(*address_of_variable)(void);

int32_t start_contexts(void) {
    struct symbol found = find_symbol("taskclock_context_address");
    if (!found.library) return 0;
    __atomic_store_n(&address_of_variable, (void **(*)(void))found.address, __ATOMIC_RELEASE);
    return 1;
}

struct thread_context {
    int32_t tid;
    int32_t padding[7];  // six records to a page, aligned for 64-bit access
    uint64_t record[CONTEXT_LENGTH / sizeof(uint64_t)];
};
enum { RECORD_HEADER = 4 };  // words that contain the header

// Called once for each Java thread. A kernel thread that detaches from the JVM and attaches again keeps its record.
void *thread_context(void) {
    void **(*address)(void) = __atomic_load_n(&address_of_variable, __ATOMIC_ACQUIRE);
    if (!address) return 0;
    void **variable = address();
    uint64_t *record = *variable;
    *(void *volatile *)variable = 0;
    if (!record) {
        struct thread_context *claimed = claim_slot(&process.contexts, sizeof *claimed, own_tid());
        if (!claimed) return 0;
        record = claimed->record;
    }
    for (int i = 0; i < RECORD_HEADER; i++) WRITE(record[i], 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(void *volatile *)variable = record;
    return record;
}

// For the records of virtual threads.
void mount_context(int64_t record) {
    void **(*address)(void) = __atomic_load_n(&address_of_variable, __ATOMIC_ACQUIRE);
    if (address && record >= 0) *(void *volatile *)address() = (void *)record;
}

// ---- the process

struct process_context {
    uint64_t signature;
    uint32_t version, payload_length;
    int64_t published_at;  // by CLOCK_BOOTTIME; 0 while the payload is written
    uint64_t payload_address;
    uint8_t payload[PAGE - 32];
};
_Static_assert(sizeof(struct process_context) == PAGE, "layout of OTEP 4719");

#define MAPPING_NAME "OTEL_CTX"

enum { BOOTTIME = 7 };  // CLOCK_BOOTTIME

static int other_code_publishes(void) {
    struct lines in;
    struct mapping m;
    int found = 0;
    if (!open_maps(&in)) return 0;
    while (!found && next_mapping(&in, &m))
        found = starts_with(m.path, "/memfd:" MAPPING_NAME) || starts_with(m.path, "[anon_shmem:" MAPPING_NAME "]") ||
                starts_with(m.path, "[anon:" MAPPING_NAME "]");
    close_maps(&in);
    return found;
}

// Readers find the mapping by the name of its file, or if no file can be created, by its own name, which needs Linux
// 5.17. Naming is attempted in any case, because readers may watch for it.
static long name_mapping(void *mapping) {
    return SYSCALL(__NR_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, mapping, PAGE, MAPPING_NAME);
}

static long map_file(void) {
    long fd = SYSCALL(__NR_memfd_create, MAPPING_NAME, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (fd == -EINVAL) fd = SYSCALL(__NR_memfd_create, MAPPING_NAME, MFD_CLOEXEC);
    if (fd < 0) return fd;
    long result = SYSCALL(__NR_ftruncate, fd, PAGE);
    if (result == 0) result = SYSCALL(__NR_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    SYSCALL(__NR_close, fd);
    return result;
}

// A forked child must not publish its parent's context, so it does not get the mapping.
static long create_mapping(void) {
    long result = map_file(), named = 0;
    if (failed(result)) {
        void *memory = map_pages(PAGE);
        if (!memory) return -ENOMEM;
        result = (long)memory;
        named = name_mapping(memory);
    }
    long error = named == 0 ? SYSCALL(__NR_madvise, result, PAGE, MADV_DONTFORK) : named;
    if (error == 0) return result;
    SYSCALL(__NR_munmap, result, PAGE);
    return error;
}

int32_t publish_context(const void *payload, int32_t length) {
    struct process_context *p = process.published_context;
    if (length < 0 || (size_t)length > sizeof p->payload) return ENOSPC;
    if (!p) {
        if (other_code_publishes()) return EEXIST;
        long created = create_mapping();
        if (failed(created)) return (int32_t)-created;
        process.published_context = p = (struct process_context *)created;
    }
    int64_t last = READ(p->published_at), now = clock_nanos(BOOTTIME);
    WRITE(p->published_at, 0);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int32_t i = 0; i < length; i++) WRITE(p->payload[i], ((const uint8_t *)payload)[i]);
    WRITE(p->payload_length, (uint32_t)length);
    WRITE(p->payload_address, (uint64_t)p->payload);
    WRITE(p->version, 2);
    uint64_t signature;
    __builtin_memcpy(&signature, "OTEL_CTX", sizeof signature);
    __atomic_store_n(&p->signature, signature, __ATOMIC_RELEASE);
    __atomic_store_n(&p->published_at, now > last ? now : last + 1, __ATOMIC_RELEASE);
    name_mapping(p);
    return 0;
}
