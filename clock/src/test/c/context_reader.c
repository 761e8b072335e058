// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// context_reader PID TID [COUNT]
//
// Reads the context of a thread of another process COUNT times, as OpenTelemetry's OTEP 4947 and OTEP 4719 demand of
// profilers. Prints the schema, the keys, and the libraries that define the variable, and then one line for each
// reading: "none" if the thread has no record, "invalid", or its trace, span, flags, and attributes. It shares no code
// with the library.

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "check.h"

#if defined(__x86_64__)
enum { TLSDESC = R_X86_64_TLSDESC, MODULE = R_X86_64_DTPMOD64, STATIC_OFFSET = R_X86_64_TPOFF64, DTV = 8 };
#else
enum { TLSDESC = R_AARCH64_TLSDESC, MODULE = R_AARCH64_TLS_DTPMOD, STATIC_OFFSET = R_AARCH64_TLS_TPREL, DTV = 0 };
#endif

static pid_t process;

static int read_memory(uint64_t address, void *into, size_t length) {
    struct iovec to = {into, length}, from = {(void *)address, length};
    return process_vm_readv(process, &to, 1, &from, 1, 0) == (ssize_t)length;
}

static uint64_t word_at(uint64_t address) {
    uint64_t word;
    CHECK(read_memory(address, &word, sizeof word));
    return word;
}

// ---- the process context (OTEP 4719)

enum { MAX_PAYLOAD = 65536, MAX_KEYS = 256 };
static char schema[64], *keys[MAX_KEYS];
static int key_count;

struct message {
    const uint8_t *next, *end;
};

static uint64_t varint(struct message *m) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        CHECK(m->next < m->end && shift < 63);
        value |= (uint64_t)(*m->next & 0x7f) << shift;
        if (!(*m->next++ & 0x80)) return value;
    }
}

// Returns the number of the next field, which must contain a string or a message; 0 at the end.
static int next_field(struct message *m, struct message *content) {
    if (m->next == m->end) return 0;
    uint64_t tag = varint(m), length = varint(m);
    CHECK((tag & 7) == 2 && length <= (uint64_t)(m->end - m->next));
    *content = (struct message){m->next, m->next + length};
    m->next += length;
    return (int)(tag >> 3);
}

static char *text_of(struct message m) { return strndup((const char *)m.next, (size_t)(m.end - m.next)); }

static void decode_attribute(struct message attribute) {
    struct message part, any = {0}, value, element, string;
    char *key = 0;
    for (int field; (field = next_field(&attribute, &part));)
        if (field == 1) key = text_of(part);
        else any = part;
    CHECK(key && any.next);
    int type = next_field(&any, &value);
    if (!strcmp(key, "threadlocal.schema_version")) {
        CHECK(type == 1);
        snprintf(schema, sizeof schema, "%.*s", (int)(value.end - value.next), value.next);
    } else if (!strcmp(key, "threadlocal.attribute_key_map")) {
        CHECK(type == 5);
        for (key_count = 0; next_field(&value, &element) == 1;) {
            CHECK(key_count < MAX_KEYS && next_field(&element, &string) == 1 && string.next < string.end);
            keys[key_count++] = text_of(string);
        }
    }
    free(key);
}

static uint64_t find_process_context(void) {
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    CHECK(maps);
    uint64_t found = 0, start;
    while (fgets(line, sizeof line, maps)) {
        int at = 0;
        CHECK(sscanf(line, "%" SCNx64 "-%*x %*s %*x %*s %*u %n", &start, &at) == 1);
        const char *name = line + at;
        if (strncmp(name, "[anon_shmem:OTEL_CTX]", 21) && strncmp(name, "/memfd:OTEL_CTX", 15) &&
            strncmp(name, "[anon:OTEL_CTX]", 15))
            continue;
        CHECK(!found);  // at most one for each process
        found = start;
    }
    fclose(maps);
    return found;
}

// Returns 0 if there is no process context.
static int read_process_context(void) {
    uint64_t address = find_process_context();
    if (!address) return 0;
    for (int attempt = 0; attempt < 1000; attempt++) {
        struct {
            char signature[8];
            uint32_t version, length;
            uint64_t published_at, payload;
        } header;
        static uint8_t payload[MAX_PAYLOAD];
        CHECK(read_memory(address, &header, sizeof header));
        if (!header.published_at || memcmp(header.signature, "OTEL_CTX", 8)) continue;
        CHECK(header.version == 2 && header.length <= MAX_PAYLOAD);
        CHECK(read_memory(header.payload, payload, header.length));
        if (word_at(address + 16) != header.published_at) continue;
        struct message context = {payload, payload + header.length}, content;
        for (int field; (field = next_field(&context, &content));)
            if (field == 2) decode_attribute(content);
        return 1;
    }
    CHECK(!"the process context is never complete");
    return 0;
}

// ---- the variable (OTEP 4947, Thread-Local Variable Resolution)

static struct {
    int count;
    uint64_t module, offset;  // module 0: relative to the thread pointer
} variable;

static uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The arguments of descriptors are offsets if they are small or negative, or else they are addresses.
static void resolve(int type, uint64_t slot) {
    if (type == TLSDESC) {
        int64_t argument = (int64_t)word_at(slot + 8);
        if (argument > UINT32_MAX) variable.module = word_at(argument), variable.offset = word_at(argument + 8);
        else variable.module = 0, variable.offset = (uint64_t)argument;
    } else if (type == MODULE) {
        variable.module = word_at(slot), variable.offset = word_at(slot + 8);
    } else if (type == STATIC_OFFSET) {
        variable.module = 0, variable.offset = word_at(slot);
    }
}

// No relocation, so this is the program, whose variables are at fixed places.
static void resolve_in_program(const Elf64_Phdr *tls, uint64_t value) {
    uint64_t align = tls->p_align ? tls->p_align : 1;
#if defined(__x86_64__)
    variable.offset = value - round_up(tls->p_memsz, align);
#else
    variable.offset = round_up(16, align) + value;
#endif
}

static uint32_t count_symbols(uint64_t table, uint64_t gnu_table) {
    uint32_t sizes[4], last = 0, word;
    if (table) return (uint32_t)(word_at(table) >> 32);
    if (!gnu_table) return 0;
    CHECK(read_memory(gnu_table, sizes, sizeof sizes));
    uint64_t indexes = gnu_table + 16 + 8 * (uint64_t)sizes[2], hashes = indexes + 4 * (uint64_t)sizes[0];
    for (uint32_t i = 0; i < sizes[0]; i++)
        if (read_memory(indexes + 4 * (uint64_t)i, &word, 4) && word > last) last = word;
    if (last < sizes[1]) return sizes[1];
    do CHECK(read_memory(hashes + 4 * (uint64_t)(last++ - sizes[1]), &word, 4));
    while (!(word & 1));
    return last;
}

static void search_library(uint64_t start, const char *path) {
    enum { MAX_HEADERS = 64 };
    Elf64_Ehdr elf;
    Elf64_Phdr headers[MAX_HEADERS], *tls = 0;
    if (!read_memory(start, &elf, sizeof elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG)) return;
    if (elf.e_phnum > MAX_HEADERS || !read_memory(start + elf.e_phoff, headers, elf.e_phnum * sizeof *headers)) return;
    uint64_t base = elf.e_type == ET_EXEC ? 0 : start, dynamic = 0, at[DT_NUM] = {0}, gnu_table = 0;
    for (int i = 0; i < elf.e_phnum; i++) {
        if (headers[i].p_type == PT_DYNAMIC) dynamic = base + headers[i].p_vaddr;
        if (headers[i].p_type == PT_TLS) tls = headers + i;
    }
    if (!dynamic || !tls) return;
    for (Elf64_Dyn d; read_memory(dynamic, &d, sizeof d) && d.d_tag != DT_NULL; dynamic += sizeof d) {
        int is_size = d.d_tag == DT_PLTRELSZ || d.d_tag == DT_RELASZ;
        // glibc has relocated the addresses in memory, musl has not.
        uint64_t value = is_size || d.d_un.d_ptr >= base ? d.d_un.d_ptr : base + d.d_un.d_ptr;
        if (d.d_tag == DT_GNU_HASH) gnu_table = value;
        if (d.d_tag > 0 && d.d_tag < DT_NUM) at[d.d_tag] = value;
    }
    uint32_t count = count_symbols(at[DT_HASH], gnu_table);
    for (uint32_t i = 1; i < count; i++) {
        Elf64_Sym symbol;
        char name[24] = "";
        if (!read_memory(at[DT_SYMTAB] + i * sizeof symbol, &symbol, sizeof symbol)) return;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) continue;
        if (!read_memory(at[DT_STRTAB] + symbol.st_name, name, 19) || strcmp(name, "otel_thread_ctx_v1")) continue;
        CHECK(symbol.st_size == 8);
        printf("variable in %s\n", path);
        variable.count++;
        resolve_in_program(tls, symbol.st_value);
        uint64_t tables[][2] = {{at[DT_JMPREL], at[DT_PLTRELSZ]}, {at[DT_RELA], at[DT_RELASZ]}};
        for (int t = 0; t < 2; t++)
            for (uint64_t offset = 0; offset < tables[t][1]; offset += sizeof(Elf64_Rela)) {
                Elf64_Rela r;
                CHECK(read_memory(tables[t][0] + offset, &r, sizeof r));
                if (ELF64_R_SYM(r.r_info) == i) resolve((int)ELF64_R_TYPE(r.r_info), base + r.r_offset);
            }
    }
}

static void find_variable(void) {
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, offset, inode;
        int at = 0;
        CHECK(sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %" SCNu64 " %n", &start, &offset, &inode, &at) == 3);
        line[strcspn(line, "\n")] = 0;
        if (offset == 0 && inode) search_library(start, line + at);
    }
    fclose(maps);
}

// ---- threads

static uint64_t thread_pointer(pid_t thread) {
#if defined(__x86_64__)
    struct user_regs_struct registers;
    CHECK(ptrace(PTRACE_GETREGS, thread, 0, &registers) == 0);
    return registers.fs_base;
#else
    uint64_t pointer;
    struct iovec into = {&pointer, sizeof pointer};
    CHECK(ptrace(PTRACE_GETREGSET, thread, (void *)NT_ARM_TLS, &into) == 0);
    return pointer;
#endif
}

// Returns the address of the thread's record; 0 if it has none.
static uint64_t record_of(pid_t thread) {
    enum { UNALLOCATED = 15 };  // marks thread-local data of glibc that the thread has not used
    uint64_t pointer = thread_pointer(thread);
    if (!variable.module) return word_at(pointer + variable.offset);
    uint64_t data = word_at(word_at(pointer + DTV) + 16 * variable.module);
    return data & UNALLOCATED ? 0 : word_at(data + variable.offset);
}

static void print_attributes(const uint8_t *data, size_t length) {
    const char *values[MAX_KEYS] = {0};
    int lengths[MAX_KEYS];
    for (size_t i = 0; i + 2 <= length && i + 2 + data[i + 1] <= length; i += 2u + data[i + 1]) {
        if (data[i] >= key_count) read_process_context();
        if (data[i] >= key_count) continue;
        values[data[i]] = (const char *)data + i + 2;
        lengths[data[i]] = data[i + 1];
    }
    for (int i = 0; i < key_count; i++)
        if (values[i]) printf(" %s=%.*s", keys[i], lengths[i], values[i]);
}

static void print_context(pid_t thread) {
    struct {
        uint8_t trace[16], span[8], valid, flags;
        uint16_t length;
        uint8_t data[UINT16_MAX];
    } record;
    enum { HEADER = 28 };
    uint64_t address = record_of(thread);
    if (!address) {
        puts("none");
        return;
    }
    CHECK(address % 2 == 0 && read_memory(address, &record, HEADER));
    if (record.valid != 1) {
        puts("invalid");
        return;
    }
    CHECK(HEADER + record.length <= 640 && read_memory(address + HEADER, record.data, record.length));
    printf("trace=");
    for (int i = 0; i < 16; i++) printf("%02x", record.trace[i]);
    printf(" span=");
    for (int i = 0; i < 8; i++) printf("%02x", record.span[i]);
    printf(" flags=%02x", record.flags);
    print_attributes(record.data, record.length);
    puts("");
}

int main(int argc, char **argv) {
    enum { MAX_MICROS = 50 };
    CHECK(argc >= 3);
    process = atoi(argv[1]);
    pid_t thread = atoi(argv[2]);
    int has_context = read_process_context();
    printf("schema %s\nkeys", has_context ? schema : "unknown");
    for (int i = 0; i < key_count; i++) printf(" %s", keys[i]);
    puts("");
    find_variable();
    if (variable.count != 1) return 0;
    CHECK(ptrace(PTRACE_SEIZE, thread, 0, 0) == 0);
    for (int i = 0; i < (argc > 3 ? atoi(argv[3]) : 1); i++) {
        int status;
        CHECK(ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0);
        // The thread may stop for a signal first, which it is given.
        for (;;) {
            CHECK(waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status));
            if (status >> 16 == PTRACE_EVENT_STOP) break;
            CHECK(ptrace(PTRACE_CONT, thread, 0, WSTOPSIG(status)) == 0);
        }
        print_context(thread);
        CHECK(ptrace(PTRACE_CONT, thread, 0, 0) == 0);
        usleep(i % MAX_MICROS);  // the thread goes on
    }
    return 0;
}
