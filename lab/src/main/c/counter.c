// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The two parts of a reading without a system call: reading the time-stamp counter, and calling native code.

#include <jni.h>
#include <stdint.h>
#include <x86intrin.h>

// Reads the counter in a loop. Returns the sum.
JNIEXPORT jlong JNICALL Java_org_taskclock_benchmarks_TimeStampCounter_read(JNIEnv *env, jclass c, jint times) {
    (void)env, (void)c;
    uint64_t sum = 0;
    for (jint i = 0; i < times; i++) sum += __rdtsc();
    return (jlong)sum;
}

JNIEXPORT jlong JNICALL Java_org_taskclock_benchmarks_EmptyCall_call(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return 0;
}

// The same for FFM, without the arguments of JNI.
JNIEXPORT int64_t empty_call(void) { return 0; }
