// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The two parts of a reading that makes no system call: the time-stamp counter, and the call that gets there.

#include <jni.h>
#include <stdint.h>
#include <x86intrin.h>

// Reads the counter in a loop without calls. Returns the sum.
JNIEXPORT jlong JNICALL Java_org_taskclock_benchmarks_Counter_read(JNIEnv *env, jclass c, jint times) {
    (void)env, (void)c;
    uint64_t sum = 0;
    for (jint i = 0; i < times; i++) sum += __rdtsc();
    return (jlong)sum;
}

JNIEXPORT jlong JNICALL Java_org_taskclock_benchmarks_EmptyCall_call(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return 0;
}

// The same without the arguments of JNI, for FFM.
JNIEXPORT int64_t empty_call(void) { return 0; }
