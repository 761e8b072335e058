// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The native methods of java.lang.TaskClockHooks.

#include "agent.h"

static jstring string_or_null(JNIEnv *env, const char *characters) {
    return characters ? (*env)->NewStringUTF(env, characters) : 0;
}

static jboolean findClock(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct sharing sharing = {0};
    clock_functions = find_shared_functions(&sharing);
    return clock_functions != 0;
}

static jint selectBackend(JNIEnv *env, jclass c, jint backend) {
    (void)env, (void)c;
    return clock_functions->selectBackend(backend);
}

static jstring prepareTimes(JNIEnv *env, jclass c) {
    (void)c;
    return string_or_null(env, times_prepare());
}

static jstring takeTimes(JNIEnv *env, jclass c, jclass thread_impl, jboolean others, jboolean may_have_answered) {
    (void)c;
    return string_or_null(env, times_take(env, thread_impl, others, may_have_answered));
}

static void stopTimes(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    times_stop();
}

static jlong cpuNanos(JNIEnv *env, jclass c, jclass thread_impl) {
    (void)c;
    return times_now(env, thread_impl, "getThreadTotalCpuTime0");
}

static jlong userNanos(JNIEnv *env, jclass c, jclass thread_impl) {
    (void)c;
    return times_now(env, thread_impl, "getThreadUserCpuTime0");
}

static jlong stockCpuNanos(JNIEnv *env, jclass c, jlong id) {
    (void)c;
    return times_stock_cpu(env, id);
}

static jlong stockUserNanos(JNIEnv *env, jclass c, jlong id) {
    (void)c;
    return times_stock_user(env, id);
}

static jint userTimeIsText(JNIEnv *env, jclass c) {
    (void)c;
    return times_user_is_text(env);
}

static jstring prepareYield(JNIEnv *env, jclass c) {
    (void)c;
    return string_or_null(env, yield_prepare(env));
}

static jstring takeYield(JNIEnv *env, jclass c) {
    (void)c;
    return string_or_null(env, yield_take(env));
}

static jstring restoreYield(JNIEnv *env, jclass c) {
    (void)c;
    return string_or_null(env, yield_restore(env));
}

static void setYieldMode(JNIEnv *env, jclass c, jint mode) {
    (void)env, (void)c;
    yield_set_mode(mode);
}

static jint yielders(JNIEnv *env, jclass c, jlongArray into) {
    (void)c;
    jlong *copy = (*env)->GetLongArrayElements(env, into, 0);
    if (!copy) return -1;
    jint count = yield_records((int64_t *)copy, (*env)->GetArrayLength(env, into) / YIELD_FIELDS);
    (*env)->ReleaseLongArrayElements(env, into, copy, 0);
    return count;
}

static jboolean freeYielder(JNIEnv *env, jclass c, jint record, jlongArray into) {
    (void)c;
    int64_t last[YIELD_FIELDS];
    if (!yield_free(record, last)) return 0;
    (*env)->SetLongArrayRegion(env, into, 0, YIELD_FIELDS, (jlong *)last);
    return 1;
}

static void countVirtualYield(JNIEnv *env, jclass c) {
    (void)c;
    yield_count_virtual(env);
}

static jstring reportThreadEnds(JNIEnv *env, jclass c, jboolean on) {
    (void)c;
    return string_or_null(env, ends_report(env, on));
}

static jlong mountAddress(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jlong)clock_functions->mount;
}

static jlong unmountAddress(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jlong)clock_functions->unmount;
}

static jlong mountContextAddress(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jlong)clock_functions->mountContext;
}

static void mountContext(JNIEnv *env, jclass c, jlong record) {
    (void)env, (void)c;
    clock_functions->mountContext(record);
}

static jlong mount(JNIEnv *env, jclass c, jlong cpu, jlong user) {
    (void)env, (void)c;
    return clock_functions->mount(cpu, user);
}

static jlong unmount(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->unmount();
}

static void stopCarrying(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    clock_functions->stopCarrying();
}

// java.lang.VirtualThread calls this native when it is initialized.
#define REGISTER "registerNatives"
typedef void registrar(JNIEnv *env, jclass type);
static registrar *stock_registrar;

static void register_and_notify(JNIEnv *env, jclass type) {
    replace_native(env, type, REGISTER, "()V", (void *)stock_registrar);
    stock_registrar(env, type);
    if (!(*env)->ExceptionCheck(env)) report_first_virtual_thread(env);
}

static jboolean awaitNatives(JNIEnv *env, jclass c, jclass type, jboolean on) {
    (void)c;
    // The native that is there now may call what was found earlier, so that is never replaced by nothing.
    registrar *found = (registrar *)symbol_in("libjava.so", "Java_java_lang_VirtualThread_" REGISTER);
    if (!found) return 0;
    stock_registrar = found;
    return replace_native(env, type, REGISTER, "()V", (void *)(on ? register_and_notify : found));
}

static void answerVirtual(JNIEnv *env, jclass c, jboolean on) {
    (void)env, (void)c;
    times_answer_virtual(on);
}

static jint carriers(JNIEnv *env, jclass c, jlongArray into) {
    (void)c;
    jlong *copy = (*env)->GetLongArrayElements(env, into, 0);
    if (!copy) return 0;
    jint count = clock_functions->carriers((int64_t *)copy, (*env)->GetArrayLength(env, into) / CARRIER_FIELDS);
    (*env)->ReleaseLongArrayElements(env, into, copy, 0);
    return count;
}

static const JNINativeMethod natives[] = {
    {"findClock", "()Z", (void *)findClock},
    {"selectBackend", "(I)I", (void *)selectBackend},
    {"prepareTimes", "()Ljava/lang/String;", (void *)prepareTimes},
    {"takeTimes0", "(Ljava/lang/Class;ZZ)Ljava/lang/String;", (void *)takeTimes},
    {"stopTimes", "()V", (void *)stopTimes},
    {"cpuNanos", "(Ljava/lang/Class;)J", (void *)cpuNanos},
    {"userNanos", "(Ljava/lang/Class;)J", (void *)userNanos},
    {"stockCpuNanos", "(J)J", (void *)stockCpuNanos},
    {"stockUserNanos", "(J)J", (void *)stockUserNanos},
    {"userTimeIsText", "()I", (void *)userTimeIsText},
    {"prepareYield", "()Ljava/lang/String;", (void *)prepareYield},
    {"takeYield0", "()Ljava/lang/String;", (void *)takeYield},
    {"restoreYield0", "()Ljava/lang/String;", (void *)restoreYield},
    {"setYieldMode", "(I)V", (void *)setYieldMode},
    {"yielders", "([J)I", (void *)yielders},
    {"freeYielder", "(I[J)Z", (void *)freeYielder},
    {"mountAddress", "()J", (void *)mountAddress},
    {"unmountAddress", "()J", (void *)unmountAddress},
    {"mountContextAddress", "()J", (void *)mountContextAddress},
    {"mountContext", "(J)V", (void *)mountContext},
    {"mount", "(JJ)J", (void *)mount},
    {"unmount", "()J", (void *)unmount},
    {"stopCarrying", "()V", (void *)stopCarrying},
    {"awaitNatives", "(Ljava/lang/Class;Z)Z", (void *)awaitNatives},
    {"answerVirtual", "(Z)V", (void *)answerVirtual},
    {"carriers", "([J)I", (void *)carriers},
    {"countVirtualYield", "()V", (void *)countVirtualYield},
    {"reportThreadEnds", "(Z)Ljava/lang/String;", (void *)reportThreadEnds},
};

__attribute__((visibility("default"))) jint JNI_OnLoad(JavaVM *vm, void *reserved) {
    (void)reserved;
    JNIEnv *env;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
    jclass hooks = jvm_prepare(env);
    if (!hooks) return JNI_ERR;
    if ((*env)->RegisterNatives(env, hooks, natives, sizeof natives / sizeof *natives) != 0) return JNI_ERR;
    return JNI_VERSION_1_8;
}
