// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The minimal system calls for a snapshot of all threads, and functions that Java lacks: pinning threads to processors,
// and passing tokens between threads.

#define _GNU_SOURCE
#include <fcntl.h>
#include <jni.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Lists the threads of this process, ignores the list, and reads the given clocks. Returns the number of clocks that
// could be read, or -1 if listing failed.
JNIEXPORT jint JNICALL Java_org_taskclock_benchmarks_SnapshotFloor_snapshot(JNIEnv *env, jclass c, jobject ids,
                                                                            jint count) {
    (void)c;
    char names[32768];
    const int32_t *id = (*env)->GetDirectBufferAddress(env, ids);
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    while (syscall(SYS_getdents64, fd, names, sizeof names) > 0) {
    }
    syscall(SYS_close, fd);
    jint known = 0;
    for (jint i = 0; i < count; i++) {
        struct timespec t;
        known += syscall(SYS_clock_gettime, id[i], &t) == 0;
    }
    return known;
}

// Pins the calling thread to one of the processors that the process may use, counted from the last. Returns the
// processor, or -1 if there are not enough.
JNIEXPORT jint JNICALL Java_org_taskclock_benchmarks_NativeScheduling_pin(JNIEnv *env, jclass c, jint fromLast) {
    (void)env, (void)c;
    cpu_set_t usable, one;
    // The affinity of the first thread, which is never pinned.
    if (sched_getaffinity(getpid(), sizeof usable, &usable) != 0) return -1;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
        if (!CPU_ISSET(cpu, &usable) || fromLast-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        return sched_setaffinity(0, sizeof one, &one) == 0 ? cpu : -1;
    }
    return -1;
}

JNIEXPORT jint JNICALL Java_org_taskclock_benchmarks_NativeScheduling_newToken(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return eventfd(0, EFD_CLOEXEC);
}

JNIEXPORT jboolean JNICALL Java_org_taskclock_benchmarks_NativeScheduling_give(JNIEnv *env, jclass c, jint token) {
    (void)env, (void)c;
    return eventfd_write(token, 1) == 0;
}

JNIEXPORT jboolean JNICALL Java_org_taskclock_benchmarks_NativeScheduling_take(JNIEnv *env, jclass c, jint token) {
    (void)env, (void)c;
    eventfd_t count;
    return eventfd_read(token, &count) == 0;
}

JNIEXPORT jlong JNICALL Java_org_taskclock_benchmarks_NativeScheduling_switches(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw + usage.ru_nivcsw : -1;
}
