// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// System calls for the tests, made through the C library: a reference that is independent of the library under test.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_org_taskclock_SystemCalls_##name

static jlong nanos(struct timespec t) { return t.tv_sec * 1000000000LL + t.tv_nsec; }

NATIVE(jint, gettid)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jint)syscall(SYS_gettid);
}

NATIVE(jlong, threadCpuNanos)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? nanos(t) : -1;
}

NATIVE(jlong, clockNanos)(JNIEnv *env, jclass c, jint id) {
    (void)env, (void)c;
    struct timespec t;
    return clock_gettime(id, &t) == 0 ? nanos(t) : -1;
}

// Returns how long it takes to read this clock count times with system calls; -1 if it cannot be read.
NATIVE(jlong, timeClockReads)(JNIEnv *env, jclass c, jint id, jint count) {
    (void)env, (void)c;
    struct timespec start, end, read;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (jint i = 0; i < count; i++)
        if (syscall(SYS_clock_gettime, id, &read) != 0) return -1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return nanos(end) - nanos(start);
}

// Reads the counter that the library uses. Returns 0 on processors to which the library is not ported.
NATIVE(jlong, timeStampCounter)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
#ifdef __x86_64__
    return (jlong)__builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

NATIVE(void, rusage)(JNIEnv *env, jclass c, jlongArray user_system) {
    (void)c;
    struct rusage u;
    if (getrusage(RUSAGE_THREAD, &u) != 0) return;
    jlong values[] = {u.ru_utime.tv_sec * 1000000000LL + u.ru_utime.tv_usec * 1000LL,
                      u.ru_stime.tv_sec * 1000000000LL + u.ru_stime.tv_usec * 1000LL};
    (*env)->SetLongArrayRegion(env, user_system, 0, 2, values);
}

NATIVE(jlong, contextSwitches)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nvcsw + u.ru_nivcsw : -1;
}

NATIVE(void, setThreadName)(JNIEnv *env, jclass c, jbyteArray name) {
    (void)c;
    char text[64] = {0};
    jsize length = (*env)->GetArrayLength(env, name);
    (*env)->GetByteArrayRegion(env, name, 0, length < 63 ? length : 63, (jbyte *)text);
    prctl(PR_SET_NAME, text);
}

NATIVE(jboolean, pinToCpu)(JNIEnv *env, jclass c, jint cpu) {
    (void)env, (void)c;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

// Blocks in the kernel, on a futex that no thread wakes.
NATIVE(void, waitOnFutex)(JNIEnv *env, jclass c, jint micros) {
    (void)env, (void)c;
    int word = 0;
    struct timespec timeout = {micros / 1000000, micros % 1000000 * 1000L};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout, 0, 0);
}

static void ignore_signal(int signal) { (void)signal; }

NATIVE(void, installNoOpHandler)(JNIEnv *env, jclass c, jint signal) {
    (void)env, (void)c;
    struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
    sigaction(signal, &action, 0);
}

NATIVE(jboolean, sendSignal)(JNIEnv *env, jclass c, jint tid, jint signal) {
    (void)env, (void)c;
    return syscall(SYS_tgkill, getpid(), tid, signal) == 0;
}

// Touches fresh pages: each one causes a page fault.
NATIVE(jlong, touchPages)(JNIEnv *env, jclass c, jint pages) {
    (void)env, (void)c;
    size_t length = (size_t)pages * 4096;
    volatile char *memory = mmap(0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    for (size_t i = 0; i < length; i += 4096) memory[i] = 1;
    munmap((void *)memory, length);
    return (jlong)length;
}

// Maps at least one page of a memfd with this name and content. Returns the address, or 0 on failure.
NATIVE(jlong, mapMemfd)(JNIEnv *env, jclass c, jbyteArray name, jbyteArray content) {
    (void)c;
    char text[64] = {0};
    jsize length = (*env)->GetArrayLength(env, name);
    (*env)->GetByteArrayRegion(env, name, 0, length < 63 ? length : 63, (jbyte *)text);
    int fd = memfd_create(text, MFD_CLOEXEC);
    if (fd < 0) return 0;
    jsize bytes = (*env)->GetArrayLength(env, content);
    jbyte *copy = (*env)->GetByteArrayElements(env, content, 0);
    int is_written = write(fd, copy, bytes) == bytes;
    (*env)->ReleaseByteArrayElements(env, content, copy, JNI_ABORT);
    void *memory = mmap(0, bytes > 4096 ? bytes : 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return is_written && memory != MAP_FAILED ? (jlong)memory : 0;
}

static jlong foreign(void) { return 4711; }

// Returns the address of a function that does not belong to the library and returns 4711.
NATIVE(jlong, foreignFunction)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jlong)foreign;
}

static jboolean install(struct sock_filter *filter, unsigned short length, unsigned flags) {
    struct sock_fprog program = {length, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

// Makes a system call fail with this errno. If bits is not 0, the call fails only if the argument with this index (from
// 0) has one of these bits set. The flags say on which threads: SECCOMP_FILTER_FLAG_TSYNC, or 0 for this one and those
// that it starts.
static jboolean deny_call_on(unsigned flags, int number, int error, int argument, int bits) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        // The low half of the argument. It comes first: the tests run on little-endian processors only.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + argument * 8),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, bits ? 1 : 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(filter, sizeof filter / sizeof *filter, flags);
}

static jboolean deny_call(int number, int error, int argument, int bits) {
    return deny_call_on(SECCOMP_FILTER_FLAG_TSYNC, number, error, argument, bits);
}

// Denies memfd_create if its flags contain one of these bits, or always if flags is 0.
NATIVE(jboolean, denyMemfd)(JNIEnv *env, jclass c, jint error, jint flags) {
    (void)env, (void)c;
    return deny_call(SYS_memfd_create, error, 1, flags);
}

// Denies clock_gettime for the CPU clocks of threads and processes: their ids are negative.
NATIVE(jboolean, denyCpuClocks)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return deny_call(SYS_clock_gettime, EPERM, 0, 1u << 31);
}

NATIVE(jboolean, denyRusage)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return deny_call(SYS_getrusage, EPERM, 0, 0);
}

// Denies mappings of private memory with no other flags, which the library uses. Heap, stacks, and files need others.
NATIVE(jboolean, denyMmap)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 3 * 8),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_PRIVATE | MAP_ANONYMOUS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(filter, sizeof filter / sizeof *filter, SECCOMP_FILTER_FLAG_TSYNC);
}

// clone3 is refused as unknown, so that the C library uses clone.
NATIVE(jboolean, denyClone)(JNIEnv *env, jclass c, jboolean all_threads) {
    (void)env, (void)c;
    unsigned flags = all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0;
    return deny_call_on(flags, SYS_clone3, ENOSYS, 0, 0) && deny_call_on(flags, SYS_clone, EAGAIN, 0, 0);
}

static jboolean set_limit(int resource, rlim_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return 0;
    limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
    return setrlimit(resource, &limit) == 0;
}

NATIVE(jboolean, limitFiles)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return next >= 0 && close(next) == 0 && set_limit(RLIMIT_NOFILE, (rlim_t)next);
}

NATIVE(jboolean, limitMemory)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    int found = fscanf(file, "%ld", &pages);
    fclose(file);
    return found == 1 && set_limit(RLIMIT_AS, (rlim_t)(pages * sysconf(_SC_PAGESIZE) + 600000));
}

NATIVE(jboolean, limitFileSize)(JNIEnv *env, jclass c, jlong bytes) {
    (void)env, (void)c;
    return set_limit(RLIMIT_FSIZE, (rlim_t)bytes);
}

NATIVE(jboolean, removeLimits)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return set_limit(RLIMIT_NOFILE, RLIM_INFINITY) && set_limit(RLIMIT_AS, RLIM_INFINITY) &&
           set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
}

// Makes reading the time-stamp counter raise SIGSEGV on the calling thread and the threads that it starts.
NATIVE(jboolean, forbidCounter)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
}
