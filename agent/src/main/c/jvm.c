// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What the agent looks up in the JVM, and its calls to Java methods. The other files depend on this one.

#include "agent.h"

// Defined in libc, or in libdl before glibc 2.34. The JVM has loaded the library in either case.
extern void *dlopen(const char *path, int flags) __attribute__((weak));
extern void *dlsym(void *library, const char *name) __attribute__((weak));
enum { LAZY = 1, IF_LOADED = 4 };  // RTLD_LAZY, RTLD_NOLOAD

const struct functions *clock_functions;

static jclass hooks, thread_class;
static jmethodID read_user_time_method, read_user_times_method, on_first_yield, on_yield_sample;
static jmethodID on_first_virtual_thread, on_thread_end, current_thread;
static jfieldID thread_id, java_thread;

void *symbol_in(const char *library, const char *name) {
    if (!dlopen || !dlsym) return 0;
    void *loaded = dlopen(library, LAZY | IF_LOADED);
    return loaded ? dlsym(loaded, name) : 0;
}

int replace_native(JNIEnv *env, jclass class, const char *name, const char *signature, void *function) {
    JNINativeMethod method = {(char *)name, (char *)signature, function};
    int replaced = (*env)->RegisterNatives(env, class, &method, 1) == 0;
    (*env)->ExceptionClear(env);
    return replaced;
}

// The hooks do not throw, but the call itself fails if too little stack is left.
jlong read_user_time(JNIEnv *env, jlong id) {
    jlong nanos = (*env)->CallStaticLongMethod(env, hooks, read_user_time_method, id);
    if (!(*env)->ExceptionCheck(env)) return nanos;
    (*env)->ExceptionClear(env);
    return USE_STOCK;
}

int read_user_times(JNIEnv *env, jlongArray ids, jlongArray into) {
    jboolean is_read = (*env)->CallStaticBooleanMethod(env, hooks, read_user_times_method, ids, into);
    if (!(*env)->ExceptionCheck(env)) return is_read;
    (*env)->ExceptionClear(env);
    return 0;
}

void report_first_yield(JNIEnv *env, jint record) {
    (*env)->CallStaticVoidMethod(env, hooks, on_first_yield, record);
    (*env)->ExceptionClear(env);
}

void report_yield_sample(JNIEnv *env, jlong weight) {
    (*env)->CallStaticVoidMethod(env, hooks, on_yield_sample, weight);
    (*env)->ExceptionClear(env);
}

void report_thread_end(JNIEnv *env, jobject thread, const jlong *values, jsize count) {
    jlongArray array = (*env)->NewLongArray(env, count);
    if (array) {
        (*env)->SetLongArrayRegion(env, array, 0, count, values);
        (*env)->CallStaticVoidMethod(env, hooks, on_thread_end, thread, array);
        (*env)->DeleteLocalRef(env, array);
    }
    (*env)->ExceptionClear(env);
}

// Reads the fields because getId can be overridden. Only virtual threads have no JavaThread of their own.
jlong current_thread_id(JNIEnv *env, int *is_virtual) {
    jobject current = (*env)->CallStaticObjectMethod(env, thread_class, current_thread);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env), current = 0;
    jlong id = current ? (*env)->GetLongField(env, current, thread_id) : 0;
    *is_virtual = current && !(*env)->GetLongField(env, current, java_thread);
    (*env)->DeleteLocalRef(env, current);
    return id;
}

void report_first_virtual_thread(JNIEnv *env) {
    (*env)->CallStaticVoidMethod(env, hooks, on_first_virtual_thread);
    (*env)->ExceptionClear(env);
}

jclass jvm_prepare(JNIEnv *env) {
    jclass found = (*env)->FindClass(env, "java/lang/TaskClockHooks");
    jclass thread = (*env)->FindClass(env, "java/lang/Thread");
    if (!found || !thread) return 0;
    hooks = (*env)->NewGlobalRef(env, found);
    thread_class = (*env)->NewGlobalRef(env, thread);
    read_user_time_method = (*env)->GetStaticMethodID(env, found, "readUserTime", "(J)J");
    read_user_times_method = (*env)->GetStaticMethodID(env, found, "readUserTimes", "([J[J)Z");
    on_first_yield = (*env)->GetStaticMethodID(env, found, "onFirstYield", "(I)V");
    on_yield_sample = (*env)->GetStaticMethodID(env, found, "onYieldSample", "(J)V");
    on_first_virtual_thread = (*env)->GetStaticMethodID(env, found, "onFirstVirtualThread", "()V");
    on_thread_end = (*env)->GetStaticMethodID(env, found, "onThreadEnd", "(Ljava/lang/Thread;[J)V");
    current_thread = (*env)->GetStaticMethodID(env, thread, "currentThread", "()Ljava/lang/Thread;");
    thread_id = (*env)->GetFieldID(env, thread, "tid", "J");
    java_thread = (*env)->GetFieldID(env, thread, "eetop", "J");
    return (*env)->ExceptionCheck(env) ? 0 : hooks;
}
