// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What the tests need of the operating system, by the C library: an opinion independent of the library under test.

#define _GNU_SOURCE
#include <errno.h>
#include <jni.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OS(type, name) JNIEXPORT type JNICALL Java_org_taskclock_Os_##name

static jlong nanos(struct timespec t) { return t.tv_sec * 1000000000LL + t.tv_nsec; }

OS(jint, gettid)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jint)syscall(SYS_gettid);
}

OS(jlong, threadCpuNanos)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? nanos(t) : -1;
}

// Any clock, by the id that clock_gettime takes.
OS(jlong, clockNanos)(JNIEnv *env, jclass c, jint id) {
    (void)env, (void)c;
    struct timespec t;
    return clock_gettime(id, &t) == 0 ? nanos(t) : -1;
}

// How long count system calls take that read this clock; -1 if it cannot be read.
OS(jlong, timeClock)(JNIEnv *env, jclass c, jint id, jint count) {
    (void)env, (void)c;
    struct timespec start, end, read;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (jint i = 0; i < count; i++)
        if (syscall(SYS_clock_gettime, id, &read) != 0) return -1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return nanos(end) - nanos(start);
}

// As the clock reads it, on the processor that it is ported to; 0 elsewhere.
OS(jlong, counter)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
#ifdef __x86_64__
    return (jlong)__builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

OS(void, rusage)(JNIEnv *env, jclass c, jlongArray user_system) {
    (void)c;
    struct rusage u;
    if (getrusage(RUSAGE_THREAD, &u) != 0) return;
    jlong values[] = {u.ru_utime.tv_sec * 1000000000LL + u.ru_utime.tv_usec * 1000LL,
                      u.ru_stime.tv_sec * 1000000000LL + u.ru_stime.tv_usec * 1000LL};
    (*env)->SetLongArrayRegion(env, user_system, 0, 2, values);
}

// How often the calling thread was switched out; -1 where the C library cannot say.
OS(jlong, switches)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nvcsw + u.ru_nivcsw : -1;
}

OS(void, rename)(JNIEnv *env, jclass c, jbyteArray name) {
    (void)c;
    char text[64] = {0};
    jsize length = (*env)->GetArrayLength(env, name);
    (*env)->GetByteArrayRegion(env, name, 0, length < 63 ? length : 63, (jbyte *)text);
    prctl(PR_SET_NAME, text);
}

OS(jboolean, pin)(JNIEnv *env, jclass c, jint cpu) {
    (void)env, (void)c;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

// Blocks in the kernel, on a futex that nobody wakes.
OS(void, futexWait)(JNIEnv *env, jclass c, jint micros) {
    (void)env, (void)c;
    int word = 0;
    struct timespec timeout = {micros / 1000000, micros % 1000000 * 1000L};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout, 0, 0);
}

static void handled(int signal) { (void)signal; }

OS(void, handleSignal)(JNIEnv *env, jclass c, jint signal) {
    (void)env, (void)c;
    struct sigaction action = {.sa_handler = handled, .sa_flags = SA_RESTART};
    sigaction(signal, &action, 0);
}

OS(jboolean, sendSignal)(JNIEnv *env, jclass c, jint tid, jint signal) {
    (void)env, (void)c;
    return syscall(SYS_tgkill, getpid(), tid, signal) == 0;
}

// Touches fresh pages: each is a fault that the kernel serves.
OS(jlong, touchPages)(JNIEnv *env, jclass c, jint pages) {
    (void)env, (void)c;
    size_t length = (size_t)pages * 4096;
    volatile char *memory = mmap(0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    for (size_t i = 0; i < length; i += 4096) memory[i] = 1;
    munmap((void *)memory, length);
    return (jlong)length;
}

// Maps a memfd of this name and content, at least one page of it. Returns the address; 0 on failure.
OS(jlong, mapNamed)(JNIEnv *env, jclass c, jbyteArray name, jbyteArray content) {
    (void)c;
    char text[64] = {0};
    jsize length = (*env)->GetArrayLength(env, name);
    (*env)->GetByteArrayRegion(env, name, 0, length < 63 ? length : 63, (jbyte *)text);
    int fd = memfd_create(text, MFD_CLOEXEC);
    if (fd < 0) return 0;
    jsize bytes = (*env)->GetArrayLength(env, content);
    jbyte *copy = (*env)->GetByteArrayElements(env, content, 0);
    int isWritten = write(fd, copy, bytes) == bytes;
    (*env)->ReleaseByteArrayElements(env, content, copy, JNI_ABORT);
    void *memory = mmap(0, bytes > 4096 ? bytes : 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return isWritten && memory != MAP_FAILED ? (jlong)memory : 0;
}

static jlong forged(void) { return 4711; }

// The address of a function that does not belong to the clock and returns 4711.
OS(jlong, forgedFunction)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jlong)forged;
}

// From now on, on all threads, a system call fails with this errno: always, or only if the argument with that index (from 0) has
// one of these bits set.
static jboolean refuse(int number, int error, int argument, int bits) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        // The low half of the argument, which comes first on the processors that the tests run on.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + argument * 8),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, bits ? 1 : 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

// memfd_create, if its flags have one of these bits; with 0 always.
OS(jboolean, refuseMemfd)(JNIEnv *env, jclass c, jint error, jint flags) {
    (void)env, (void)c;
    return refuse(SYS_memfd_create, error, 1, flags);
}

// clock_gettime of a thread or a process: the ids that are negative.
OS(jboolean, refuseCpuClocks)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return refuse(SYS_clock_gettime, EPERM, 0, 1u << 31);
}

OS(jboolean, refuseRusage)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return refuse(SYS_getrusage, EPERM, 0, 0);
}

// From now on reading the counter is a SIGSEGV on the calling thread and the threads that it starts.
OS(jboolean, forbidCounter)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
}
