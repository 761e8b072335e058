// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Checks what the agent's natives do if a library is not found, and if threads share the last yield record.

#include "check.h"

#include <pthread.h>

// The agent's references to these are weak.
#define dlopen fake_dlopen
#define dlsym fake_dlsym
#include "agent.c"
#include "jvm.c"
#include "yield.c"

static int libraries_are_missing;
static int calls;

static void stock(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    calls++;
}

void *dlopen(const char *path, int flags) {
    (void)path, (void)flags;
    return libraries_are_missing ? 0 : (void *)1;
}

void *dlsym(void *library, const char *name) {
    (void)library, (void)name;
    return (void *)stock;
}

static void *registered;

static jint JNICALL register_natives(JNIEnv *env, jclass c, const JNINativeMethod *methods, jint count) {
    (void)env, (void)c, (void)count;
    registered = methods->fnPtr;
    return 0;
}

static void JNICALL clear_exception(JNIEnv *env) { (void)env; }

static jboolean JNICALL check_exception(JNIEnv *env) {
    (void)env;
    return 0;
}

static void JNICALL call_static_void(JNIEnv *env, jclass c, jmethodID method, ...) { (void)env, (void)c, (void)method; }

static const struct JNINativeInterface_ interface = {
    .RegisterNatives = register_natives,
    .ExceptionClear = clear_exception,
    .ExceptionCheck = check_exception,
    .CallStaticVoidMethod = call_static_void,
};
static JNIEnv env = &interface;

// A failure to find the JVM's native does not affect the replacement that is installed.
static void check_registrar(void) {
    CHECK(awaitNatives(&env, 0, 0, 1));
    registrar *installed = (registrar *)registered;
    libraries_are_missing = 1;
    CHECK(!awaitNatives(&env, 0, 0, 0));
    libraries_are_missing = 0;
    installed(&env, 0);
    CHECK(calls == 1);
}

static int64_t tick_stamp(void) {
    static int64_t now;
    return __atomic_add_fetch(&now, 1, __ATOMIC_RELAXED);
}

static int is_done;

// Another thread that yields as rarely halves the interval between the check and the use of this thread.
static void *halve_interval(void *unused) {
    while (!READ(is_done)) {
        WRITE(overflow.interval, 0);
        WRITE(overflow.interval, 1);
    }
    return unused;
}

static void check_shared_interval(void) {
    static struct functions functions = {.tickStamp = tick_stamp};
    clock_functions = &functions;
    pthread_t other;
    CHECK(pthread_create(&other, 0, halve_interval, 0) == 0);
    for (int64_t i = 0; i < 1000000; i++) {
        self.sampled_at = -MAX_SPACING * 2;
        sample(&env, &overflow, i);
        CHECK(self.next_sample > i);
    }
    WRITE(is_done, 1);
    pthread_join(other, 0);
}

int main(void) {
    check_registrar();
    check_shared_interval();
    return 0;
}
