// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The end of platform threads, which the JVM reports on the thread itself through JVM TI. The event ThreadEnd needs no
// capability, costs nothing at any other time, and is not sent for virtual threads.

#include "agent.h"

#include <jvmti.h>

static jvmtiEnv *jvmti;

// The time of the calling kernel thread that earlier Java threads on it have reported. A native thread can attach to
// the JVM many times, and the kernel thread of main becomes DestroyJavaVM.
static __thread struct {
    int64_t cpu, user;
} reported;

static void JNICALL on_end(jvmtiEnv *source, JNIEnv *env, jthread thread) {
    (void)source;
    int64_t cpu = clock_functions->nowCpuNanos(), user = clock_functions->nowUserNanos();
    if (cpu < 0) return;
    jlong ticks = clock_functions->clockNanos((int32_t)OWN_PROF);
    jlong user_ticks = clock_functions->clockNanos((int32_t)OWN_VIRT);
    jlong values[] = {SYSCALL(__NR_gettid), cpu, user, reported.cpu, reported.user, ticks, user_ticks};
    reported.cpu = cpu;
    reported.user = user;
    report_thread_end(env, thread, values, sizeof values / sizeof *values);
}

static const jvmtiEventCallbacks callbacks = {.ThreadEnd = on_end};

const char *ends_report(JNIEnv *env, int on) {
    if (!jvmti) {
        JavaVM *vm;
        jvmtiEnv *created;
        if ((*env)->GetJavaVM(env, &vm) != JNI_OK) return "the JVM has no invocation interface";
        if ((*vm)->GetEnv(vm, (void **)&created, JVMTI_VERSION_11) != JNI_OK) return "the JVM has no JVM TI";
        if ((*created)->SetEventCallbacks(created, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
            return "JVM TI refuses the event ThreadEnd";
        jvmti = created;
    }
    jvmtiEventMode mode = on ? JVMTI_ENABLE : JVMTI_DISABLE;
    jvmtiError error = (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_THREAD_END, 0);
    return error == JVMTI_ERROR_NONE ? 0 : "JVM TI refuses the event ThreadEnd";
}
