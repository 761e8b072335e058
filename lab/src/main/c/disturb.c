// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Disturbances that Java code cannot cause: moves of threads between processors, and signals.

#define _GNU_SOURCE
#include <jni.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#define DISTURB(type, name) JNIEXPORT type JNICALL Java_org_taskclock_benchmarks_NativeDisturbance_##name

static cpu_set_t allowed;
static long signals;

// Records the processors that the calling thread may use, and returns their number.
DISTURB(jint, processors)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : -1;
}

DISTURB(jint, processor)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return sched_getcpu();
}

// Moves a thread to one of the recorded processors, counted from 0. Returns false if there is no such thread or
// processor.
DISTURB(jboolean, move)(JNIEnv *env, jclass c, jint tid, jint index) {
    (void)env, (void)c;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || index-- > 0) continue;
        cpu_set_t target;
        CPU_ZERO(&target);
        CPU_SET(cpu, &target);
        return sched_setaffinity(tid, sizeof target, &target) == 0;
    }
    return 0;
}

static void count(int signal) {
    (void)signal;
    __atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
}

// Sends a signal to a thread periodically. The JVM and profilers use other signals.
DISTURB(jlong, startTimer)(JNIEnv *env, jclass c, jint tid, jlong period_nanos) {
    (void)env, (void)c;
    int signal = SIGRTMIN + 7;
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    if (sigaction(signal, &action, 0) != 0) return -1;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal};
    event._sigev_un._tid = tid;  // the only name before glibc 2.36
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return -1;
    struct timespec period = {period_nanos / 1000000000, period_nanos % 1000000000};
    struct itimerspec times = {period, period};
    if (timer_settime(timer, 0, &times, 0) == 0) return (jlong)(intptr_t)timer;
    timer_delete(timer);
    return -1;
}

DISTURB(void, deleteTimer)(JNIEnv *env, jclass c, jlong timer) {
    (void)env, (void)c;
    timer_delete((timer_t)(intptr_t)timer);
}

DISTURB(jlong, signals)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return __atomic_load_n(&signals, __ATOMIC_RELAXED);
}

// The two functions below return the numbers of voluntary and involuntary context switches of this process so far.
DISTURB(jlong, blocks)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? u.ru_nvcsw : -1;
}

DISTURB(jlong, preemptions)(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? u.ru_nivcsw : -1;
}
