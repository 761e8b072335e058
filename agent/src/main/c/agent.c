// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// What Java calls, all of it in java.lang.TaskClockHooks, and what we call there.

#include "agent.h"

#define HOOKS "java/lang/TaskClockHooks"

// In libc, or in older ones in libdl, which the JVM has loaded.
extern void *dlopen(const char *path, int flags) __attribute__((weak));
extern void *dlsym(void *library, const char *name) __attribute__((weak));
enum { LAZY = 1, IF_LOADED = 4 };  // RTLD_LAZY, RTLD_NOLOAD

const struct functions *clock_functions;

static jclass hooks, thread_class;
static jmethodID user_nanos, users_nanos, first_yield, yielded, first_made, current_thread;
static jfieldID thread_id, java_thread;

void *symbol_in(const char *library, const char *name) {
    if (!dlopen || !dlsym) return 0;
    void *loaded = dlopen(library, LAZY | IF_LOADED);
    return loaded ? dlsym(loaded, name) : 0;
}

int replace(JNIEnv *env, jclass in, const char *name, const char *signature, void *function) {
    JNINativeMethod method = {(char *)name, (char *)signature, function};
    int done = (*env)->RegisterNatives(env, in, &method, 1) == 0;
    (*env)->ExceptionClear(env);
    return done;
}

// The hooks throw nothing, but the stack may be too short to call them.
jlong ask_user(JNIEnv *env, jlong id) {
    jlong nanos = (*env)->CallStaticLongMethod(env, hooks, user_nanos, id);
    if (!(*env)->ExceptionCheck(env)) return nanos;
    (*env)->ExceptionClear(env);
    return NOT_OURS;
}

int ask_users(JNIEnv *env, jlongArray ids, jlongArray into) {
    jboolean answered = (*env)->CallStaticBooleanMethod(env, hooks, users_nanos, ids, into);
    if (!(*env)->ExceptionCheck(env)) return answered;
    (*env)->ExceptionClear(env);
    return 0;
}

void tell_first_yield(JNIEnv *env, jint record) {
    (*env)->CallStaticVoidMethod(env, hooks, first_yield, record);
    (*env)->ExceptionClear(env);
}

void tell_yield(JNIEnv *env, jlong weight) {
    (*env)->CallStaticVoidMethod(env, hooks, yielded, weight);
    (*env)->ExceptionClear(env);
}

// From the fields, as getId can be overridden. Only a virtual thread has no JavaThread of its own.
jlong current_thread_id(JNIEnv *env, int *is_virtual) {
    jobject current = (*env)->CallStaticObjectMethod(env, thread_class, current_thread);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env), current = 0;
    jlong id = current ? (*env)->GetLongField(env, current, thread_id) : 0;
    *is_virtual = current && !(*env)->GetLongField(env, current, java_thread);
    (*env)->DeleteLocalRef(env, current);
    return id;
}

static jstring text(JNIEnv *env, const char *characters) {
    return characters ? (*env)->NewStringUTF(env, characters) : 0;
}

static jboolean findClock(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    struct sharing sharing = {0};
    clock_functions = find_shared_functions(&sharing);
    return clock_functions != 0;
}

static jint selectRung(JNIEnv *env, jclass c, jint rung) {
    (void)env, (void)c;
    return clock_functions->selectRung(rung);
}

static jstring prepareTimes(JNIEnv *env, jclass c) {
    (void)c;
    return text(env, times_prepare());
}

static jstring takeTimes(JNIEnv *env, jclass c, jclass thread_impl, jboolean others) {
    (void)c;
    return text(env, times_take(env, thread_impl, others));
}

static jstring restoreTimes(JNIEnv *env, jclass c, jclass thread_impl) {
    (void)c;
    return text(env, times_restore(env, thread_impl));
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
    return text(env, yield_prepare(env));
}

static jstring takeYield(JNIEnv *env, jclass c) {
    (void)c;
    return text(env, yield_take(env));
}

static jstring restoreYield(JNIEnv *env, jclass c) {
    (void)c;
    return text(env, yield_restore(env));
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

static jlong mountAddress(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jlong)clock_functions->mount;
}

static jlong unmountAddress(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return (jlong)clock_functions->unmount;
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

// What java.lang.VirtualThread calls when it is initialized.
#define BIND "registerNatives"
typedef void binder(JNIEnv *env, jclass type);
static binder *stock_binder;

static void bindAndTell(JNIEnv *env, jclass type) {
    replace(env, type, BIND, "()V", (void *)stock_binder);
    stock_binder(env, type);
    if ((*env)->ExceptionCheck(env)) return;
    (*env)->CallStaticVoidMethod(env, hooks, first_made);
    (*env)->ExceptionClear(env);
}

static jboolean awaitNatives(JNIEnv *env, jclass c, jclass type, jboolean wanted) {
    (void)c;
    stock_binder = (binder *)symbol_in("libjava.so", "Java_java_lang_VirtualThread_" BIND);
    return stock_binder && replace(env, type, BIND, "()V", wanted ? (void *)bindAndTell : (void *)stock_binder);
}

static void setAnswersVirtual(JNIEnv *env, jclass c, jboolean wanted) {
    (void)env, (void)c;
    times_answer_virtual(wanted);
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
    {"selectRung", "(I)I", (void *)selectRung},
    {"prepareTimes", "()Ljava/lang/String;", (void *)prepareTimes},
    {"takeTimes", "(Ljava/lang/Class;Z)Ljava/lang/String;", (void *)takeTimes},
    {"restoreTimes", "(Ljava/lang/Class;)Ljava/lang/String;", (void *)restoreTimes},
    {"cpuNanos", "(Ljava/lang/Class;)J", (void *)cpuNanos},
    {"userNanos", "(Ljava/lang/Class;)J", (void *)userNanos},
    {"stockCpuNanos", "(J)J", (void *)stockCpuNanos},
    {"stockUserNanos", "(J)J", (void *)stockUserNanos},
    {"userTimeIsText", "()I", (void *)userTimeIsText},
    {"prepareYield", "()Ljava/lang/String;", (void *)prepareYield},
    {"takeYield", "()Ljava/lang/String;", (void *)takeYield},
    {"restoreYield", "()Ljava/lang/String;", (void *)restoreYield},
    {"setYieldMode", "(I)V", (void *)setYieldMode},
    {"yielders", "([J)I", (void *)yielders},
    {"freeYielder", "(I[J)Z", (void *)freeYielder},
    {"mountAddress", "()J", (void *)mountAddress},
    {"unmountAddress", "()J", (void *)unmountAddress},
    {"mount", "(JJ)J", (void *)mount},
    {"unmount", "()J", (void *)unmount},
    {"stopCarrying", "()V", (void *)stopCarrying},
    {"awaitNatives", "(Ljava/lang/Class;Z)Z", (void *)awaitNatives},
    {"setAnswersVirtual", "(Z)V", (void *)setAnswersVirtual},
    {"carriers", "([J)I", (void *)carriers},
    {"countVirtualYield", "()V", (void *)countVirtualYield},
};

__attribute__((visibility("default"))) jint JNI_OnLoad(JavaVM *vm, void *reserved) {
    (void)reserved;
    JNIEnv *env;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
    jclass found = (*env)->FindClass(env, HOOKS);
    jclass thread = (*env)->FindClass(env, "java/lang/Thread");
    if (!found || !thread) return JNI_ERR;
    hooks = (*env)->NewGlobalRef(env, found);
    thread_class = (*env)->NewGlobalRef(env, thread);
    user_nanos = (*env)->GetStaticMethodID(env, found, "userNanos", "(J)J");
    users_nanos = (*env)->GetStaticMethodID(env, found, "usersNanos", "([J[J)Z");
    first_yield = (*env)->GetStaticMethodID(env, found, "firstYield", "(I)V");
    yielded = (*env)->GetStaticMethodID(env, found, "yielded", "(J)V");
    first_made = (*env)->GetStaticMethodID(env, found, "firstMade", "()V");
    current_thread = (*env)->GetStaticMethodID(env, thread, "currentThread", "()Ljava/lang/Thread;");
    thread_id = (*env)->GetFieldID(env, thread, "tid", "J");
    java_thread = (*env)->GetFieldID(env, thread, "eetop", "J");
    if ((*env)->ExceptionCheck(env)) return JNI_ERR;
    if ((*env)->RegisterNatives(env, found, natives, sizeof natives / sizeof *natives) != 0) return JNI_ERR;
    return JNI_VERSION_1_8;
}
