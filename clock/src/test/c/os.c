// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What the tests need of the operating system, by the C library: an opinion independent of the library under test.

#define _GNU_SOURCE
#include <jni.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
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
OS(void, futexWait)(JNIEnv *env, jclass c, jint millis) {
    (void)env, (void)c;
    int word = 0;
    struct timespec timeout = {millis / 1000, millis % 1000 * 1000000L};
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
