// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Clocks that cost only nanoseconds when read through the vDSO, the code that the kernel maps into every process
// (vdso(7)): CLOCK_MONOTONIC_COARSE, which changes at each tick, and CLOCK_MONOTONIC_RAW. Without a vDSO, the system
// call returns the same values.

#include "taskclock.h"

#include <linux/auxvec.h>
#include <linux/elf.h>
#include <linux/time_types.h>

enum { MONOTONIC_RAW = 4, MONOTONIC_COARSE = 6 };  // CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE
enum { GNU_HASH = 0x6ffffef5 };                    // DT_GNU_HASH

// glibc 2.16 and later and musl have this function. Without it we do not use the vDSO.
extern unsigned long getauxval(unsigned long type) __attribute__((weak));

static int (*vdso_clock_gettime)(int32_t, struct __kernel_timespec *);

struct image {
    const char *names;
    const Elf64_Sym *symbols;
    const uint32_t *gnu_hash, *hash;  // vDSOs have one or both
};

// Finds the tables of an ELF object by its program headers. Addresses in it are relative to its link address.
static int open_image(const char *base, struct image *image, const char **bias) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(base + header->e_phoff);
    const Elf64_Dyn *dynamic = 0;
    *bias = 0;
    for (int i = 0; i < header->e_phnum; i++) {
        if (segment[i].p_type == PT_LOAD && !*bias) *bias = base + segment[i].p_offset - segment[i].p_vaddr;
        if (segment[i].p_type == PT_DYNAMIC) dynamic = (const Elf64_Dyn *)(base + segment[i].p_offset);
    }
    if (!*bias || !dynamic) return 0;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        const char *at = *bias + dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_STRTAB) image->names = at;
        if (dynamic->d_tag == DT_SYMTAB) image->symbols = (const Elf64_Sym *)at;
        if (dynamic->d_tag == DT_HASH) image->hash = (const uint32_t *)at;
        if (dynamic->d_tag == GNU_HASH) image->gnu_hash = (const uint32_t *)at;
    }
    return image->names && image->symbols && (image->gnu_hash || image->hash);
}

static int is_function(const struct image *image, const Elf64_Sym *symbol, const char *name) {
    return symbol->st_shndx && strings_equal(image->names + symbol->st_name, name);
}

// The second word of a DT_HASH table is the number of symbols (System V ABI, "Hash Table").
static const Elf64_Sym *find_in_hash(const struct image *image, const char *name) {
    for (uint32_t i = 0; i < image->hash[1]; i++)
        if (is_function(image, &image->symbols[i], name)) return &image->symbols[i];
    return 0;
}

// Every defined symbol is in a chain of the hash table. The lowest bit marks the end of a chain.
static const Elf64_Sym *find_in_gnu_hash(const struct image *image, const char *name) {
    uint32_t buckets = image->gnu_hash[0], first = image->gnu_hash[1], bloom_words = image->gnu_hash[2];
    const uint32_t *bucket = image->gnu_hash + 4 + 2 * bloom_words;
    const uint32_t *chain = bucket + buckets;
    for (uint32_t b = 0; b < buckets; b++) {
        uint32_t i = bucket[b];
        if (i < first) continue;
        do
            if (is_function(image, &image->symbols[i], name)) return &image->symbols[i];
        while (!(chain[i++ - first] & 1));
    }
    return 0;
}

void vdso_init(void) {
    const char *bias, *base = getauxval ? (const char *)getauxval(AT_SYSINFO_EHDR) : 0;
    struct image image = {0, 0, 0, 0};
    if (!base || !open_image(base, &image, &bias)) return;
    const Elf64_Sym *symbol =
        image.hash ? find_in_hash(&image, VDSO_CLOCK_GETTIME) : find_in_gnu_hash(&image, VDSO_CLOCK_GETTIME);
    if (symbol) *(const void **)&vdso_clock_gettime = bias + symbol->st_value;
}

static int64_t read_vdso(int32_t id) {
    struct __kernel_timespec t;
    if (vdso_clock_gettime ? vdso_clock_gettime(id, &t) != 0 : SYSCALL(__NR_clock_gettime, id, &t) != 0) return -1;
    return t.tv_sec * NANOS_PER_SECOND + t.tv_nsec;
}

int64_t coarse_nanos(void) { return read_vdso(MONOTONIC_COARSE); }

int64_t raw_clock_nanos(void) { return read_vdso(MONOTONIC_RAW); }
