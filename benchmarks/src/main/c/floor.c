// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The system calls that a snapshot of all threads cannot do without, and nothing else.

#define _GNU_SOURCE
#include <fcntl.h>
#include <jni.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Lists this process's threads without looking at the list, then reads each of the clocks, whose ids were made before.
// Returns how many could be read, -1 if the threads cannot be listed.
JNIEXPORT jint JNICALL Java_org_taskclock_benchmarks_Floor_snapshot(JNIEnv *env, jclass c, jobject ids, jint count) {
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
