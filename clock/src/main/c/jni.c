// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The functions that Java calls. None is bound by its name, so the Java code may be relocated to any package: while
// Library loads us, a system property contains its class name. The other functions are registered on classes that Java
// passes in.

#include "taskclock.h"

#include <jni.h>

#define LOADING_CLASS_PROPERTY "taskclock.loading"

enum { CHUNK = 256 };  // clocks per array region

static const struct functions *clock_functions;
static struct sharing sharing;
static int is_apart;  // another copy has published its functions while we could not
static int has_vm_structs;
static jfieldID eetop;

extern const char *gnu_get_libc_version(void) __attribute__((weak));

// ---- org.taskclock.JniBinding; JDK 22 and later use it only until FFM is ready

static jlong jniCpuNanos(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->cpuNanos();
}

static jlong jniUserNanos(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->userNanos();
}

static jlong jniSystemNanos(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->systemNanos();
}

static jlong jniNowCpuNanos(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->nowCpuNanos();
}

static jlong jniNowUserNanos(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->nowUserNanos();
}

static jlong jniClockNanos(JNIEnv *env, jclass c, jint id) {
    (void)env, (void)c;
    return clock_functions->clockNanos(id);
}

static jlong jniTickStamp(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->tickStamp();
}

static jlong jniVirtualNanos(JNIEnv *env, jclass c, jint value) {
    (void)env, (void)c;
    return clock_functions->virtualNanos(value);
}

static const JNINativeMethod native_methods[] = {
    {"cpuNanos", "()J", (void *)jniCpuNanos},
    {"userNanos", "()J", (void *)jniUserNanos},
    {"systemNanos", "()J", (void *)jniSystemNanos},
    {"nowCpuNanos", "()J", (void *)jniNowCpuNanos},
    {"nowUserNanos", "()J", (void *)jniNowUserNanos},
    {"clockNanos", "(I)J", (void *)jniClockNanos},
    {"processNanos", "(I)J", (void *)jniClockNanos},
    {"tickStamp", "()J", (void *)jniTickStamp},
    {"virtualNanos", "(I)J", (void *)jniVirtualNanos},
};

// ---- org.taskclock.Library, on every JDK

static void bind(JNIEnv *env, jclass c, jclass natives) {
    (void)c;
    (*env)->RegisterNatives(env, natives, native_methods, sizeof native_methods / sizeof *native_methods);
}

static const struct {
    const char *name;
    size_t offset;
} addresses[] = {
#define ADDRESS(function) {#function, offsetof(struct functions, function)}
    ADDRESS(cpuNanos),     ADDRESS(userNanos),  ADDRESS(systemNanos), ADDRESS(nowCpuNanos),
    ADDRESS(nowUserNanos), ADDRESS(clockNanos), ADDRESS(tickStamp),   ADDRESS(virtualNanos),
};

// Returns the address of the active function with this name, for a binding without JNI; 0 if there is none.
static jlong address(JNIEnv *env, jclass c, jstring name) {
    (void)c;
    const char *characters = (*env)->GetStringUTFChars(env, name, 0);
    if (!characters) return 0;
    jlong found = 0;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        if (strings_equal(characters, addresses[i].name))
            found = *(const jlong *)((const char *)clock_functions + addresses[i].offset);
    (*env)->ReleaseStringUTFChars(env, name, characters);
    return found;
}

static jint kernelRefusal(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return kernel_refusal();
}

static jlong resolutionOfTicks(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_resolution(OWN_VIRT);
}

static jboolean isPrecise(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return user_time_is_precise() != 0;
}

static jboolean isFirstCopy(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->cpuNanos == own_functions.cpuNanos;
}

// Tries again to publish our functions if that failed. If another copy has published its own in the meantime, we cannot
// change over, because our readings are ahead of the kernel, and FFM has linked our functions. So that the other copy's
// switch is obeyed, we ask the kernel from then on. Library.java holds the lock that all copies share.
static jboolean share(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    if (!sharing.error) return JNI_TRUE;
    sharing = (struct sharing){0};
    const struct functions *found = shared_functions(&own_functions, &sharing);
    is_apart = found->cpuNanos != own_functions.cpuNanos;
    if (is_apart) own_functions.selectBackend(BACKEND_OFF);
    return !sharing.error;
}

static jboolean isApart(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return is_apart != 0;
}

static jint foreignPages(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return sharing.foreign_pages;
}

static jint shareError(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return sharing.error;
}

static jstring shareStep(JNIEnv *env, jclass c) {
    (void)c;
    return sharing.failed_call ? (*env)->NewStringUTF(env, sharing.failed_call) : 0;
}

static jboolean knowsJavaThreads(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return has_vm_structs != 0;
}

static jint selectBackend(JNIEnv *env, jclass c, jint backend) {
    (void)env, (void)c;
    return clock_functions->selectBackend(backend);
}

static void setAccuracy(JNIEnv *env, jclass c, jlong nanos) {
    (void)env, (void)c;
    clock_functions->setAccuracy(nanos);
}

static struct clock_report report(void) {
    struct clock_report found;
    clock_functions->report(&found);
    return found;
}

// One native method for each field of the report.
#define REPORT(name, field)                       \
    static jlong name(JNIEnv *env, jclass c) {    \
        (void)env, (void)c;                       \
        return report().field;                    \
    }
REPORT(counterHertz, counter_hertz)
REPORT(calibratedOverNanos, calibrated_over_nanos)
REPORT(calibrationResets, calibration_resets)
REPORT(budgetNanos, budget_nanos)
REPORT(lifeNanos, life_nanos)
REPORT(observedNanos, observed_nanos)
REPORT(aheadNanos, ahead_nanos)
REPORT(restores, restores)
REPORT(changes, changes)
REPORT(backendInUse, backend)
REPORT(isOff, is_off)

static void machineChanged(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    clock_functions->machineChanged();
}

static jboolean hasCarriers(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->carriers(0, 0) > 0;
}

static jstring libc(JNIEnv *env, jclass c) {
    (void)c;
    return gnu_get_libc_version ? (*env)->NewStringUTF(env, gnu_get_libc_version()) : 0;
}

static jstring rseqUser(JNIEnv *env, jclass c) {
    (void)c;
    const char *path = rseq_user();
    return path ? (*env)->NewStringUTF(env, path) : 0;
}

static jint ownTid(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return own_tid();
}

static jint tid(JNIEnv *env, jclass c, jobject thread) {
    (void)c;
    if (!eetop) return -1;
    jlong java_thread = (*env)->GetLongField(env, thread, eetop);
    int32_t tid = hotspot_tid((uint64_t)java_thread);
    return (*env)->GetLongField(env, thread, eetop) == java_thread ? tid : -1;
}

static jint tids(JNIEnv *env, jclass c, jintArray into) {
    (void)c;
    jint capacity = (*env)->GetArrayLength(env, into);
    // Critical access would block the garbage collector while /proc is read.
    jint *copy = (*env)->GetIntArrayElements(env, into, 0);
    if (!copy) return -1;
    jint count = list_threads(copy, capacity);
    (*env)->ReleaseIntArrayElements(env, into, copy, 0);
    return count;
}

static jint threadCount(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return count_threads();
}

static void clocks(JNIEnv *env, jclass c, jintArray ids, jlongArray nanos, jint count) {
    (void)c;
    jint id[CHUNK];
    jlong value[CHUNK];
    for (jint start = 0; start < count; start += CHUNK) {
        jint n = count - start < CHUNK ? count - start : CHUNK;
        (*env)->GetIntArrayRegion(env, ids, start, n, id);
        if ((*env)->ExceptionCheck(env)) return;
        for (jint i = 0; i < n; i++) value[i] = clock_functions->clockNanos(id[i]);
        (*env)->SetLongArrayRegion(env, nanos, start, n, value);
    }
}

static jboolean rusage(JNIEnv *env, jclass c, jlongArray into) {
    (void)c;
    int64_t user, system;
    if (rusage_of_thread(&user, &system) != 0) return JNI_FALSE;
    jlong values[] = {user, system};
    (*env)->SetLongArrayRegion(env, into, 0, 2, values);
    return JNI_TRUE;
}

static jlong rawNanos(JNIEnv *env, jclass c, jint id, jint count) {
    (void)env, (void)c;
    return raw_nanos(id, count);
}

static jobject sharedObject(JNIEnv *env, jclass c, jobject candidate) {
    (void)c;
    jobject shared = clock_functions->sharedObject(0);
    if (!shared) {
        jobject global = (*env)->NewGlobalRef(env, candidate);
        shared = clock_functions->sharedObject(global);
        if (shared != global) (*env)->DeleteGlobalRef(env, global);
    }
    return (*env)->NewLocalRef(env, shared);
}

static jlong waitNanos(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return wait_nanos();
}

static void keepWaitFiles(JNIEnv *env, jclass c, jboolean on) {
    (void)env, (void)c;
    keep_wait_files(on);
}

static jstring definesContext(JNIEnv *env, jclass c) {
    (void)c;
    const char *library;
    if (!context_variable_is_defined(&library)) return 0;
    // A name may contain any character.
    char text[CHUNK];
    int length = 0;
    for (; library[length] && length < CHUNK - 1; length++)
        text[length] = library[length] >= ' ' && library[length] <= '~' ? library[length] : '?';
    text[length] = 0;
    return (*env)->NewStringUTF(env, length ? text : "the program");
}

static jboolean startContexts(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    return clock_functions->startContexts() != 0;
}

static jobject threadContext(JNIEnv *env, jclass c) {
    (void)c;
    void *record = clock_functions->threadContext();
    return record ? (*env)->NewDirectByteBuffer(env, record, CONTEXT_LENGTH) : 0;
}

static jobject mapContexts(JNIEnv *env, jclass c, jint count) {
    (void)c;
    void *memory = map_pages((long)count * CONTEXT_LENGTH);
    return memory ? (*env)->NewDirectByteBuffer(env, memory, (jlong)count * CONTEXT_LENGTH) : 0;
}

static jlong addressOf(JNIEnv *env, jclass c, jobject memory) {
    (void)c;
    return (jlong)(*env)->GetDirectBufferAddress(env, memory);
}

static jint publishContext(JNIEnv *env, jclass c, jbyteArray payload) {
    (void)c;
    jbyte *copy = (*env)->GetByteArrayElements(env, payload, 0);
    if (!copy) return ENOMEM;
    jint error = clock_functions->publishContext(copy, (*env)->GetArrayLength(env, payload));
    (*env)->ReleaseByteArrayElements(env, payload, copy, JNI_ABORT);
    return error;
}

static const JNINativeMethod library_methods[] = {
    {"bind", "(Ljava/lang/Class;)V", (void *)bind},
    {"address", "(Ljava/lang/String;)J", (void *)address},
    {"kernelRefusal", "()I", (void *)kernelRefusal},
    {"resolutionOfTicks", "()J", (void *)resolutionOfTicks},
    {"readPrecise", "()Z", (void *)isPrecise},
    {"isFirstCopy", "()Z", (void *)isFirstCopy},
    {"share", "()Z", (void *)share},
    {"isApart", "()Z", (void *)isApart},
    {"foreignPages", "()I", (void *)foreignPages},
    {"shareError", "()I", (void *)shareError},
    {"shareStep", "()Ljava/lang/String;", (void *)shareStep},
    {"knowsJavaThreads", "()Z", (void *)knowsJavaThreads},
    {"selectBackend", "(I)I", (void *)selectBackend},
    {"setAccuracy", "(J)V", (void *)setAccuracy},
    {"counterHertz", "()J", (void *)counterHertz},
    {"calibratedOverNanos", "()J", (void *)calibratedOverNanos},
    {"calibrationResets", "()J", (void *)calibrationResets},
    {"budgetNanos", "()J", (void *)budgetNanos},
    {"lifeNanos", "()J", (void *)lifeNanos},
    {"observedNanos", "()J", (void *)observedNanos},
    {"aheadNanos", "()J", (void *)aheadNanos},
    {"restores", "()J", (void *)restores},
    {"changes", "()J", (void *)changes},
    {"backendInUse", "()J", (void *)backendInUse},
    {"isOff", "()J", (void *)isOff},
    {"machineChanged", "()V", (void *)machineChanged},
    {"hasCarriers", "()Z", (void *)hasCarriers},
    {"libc", "()Ljava/lang/String;", (void *)libc},
    {"rseqUser", "()Ljava/lang/String;", (void *)rseqUser},
    {"ownTid", "()I", (void *)ownTid},
    {"tid", "(Ljava/lang/Thread;)I", (void *)tid},
    {"tids", "([I)I", (void *)tids},
    {"threadCount", "()I", (void *)threadCount},
    {"clocks", "([I[JI)V", (void *)clocks},
    {"rusage", "([J)Z", (void *)rusage},
    {"rawNanos", "(II)J", (void *)rawNanos},
    {"sharedObject", "(Ljava/lang/Object;)Ljava/lang/Object;", (void *)sharedObject},
    {"waitNanos", "()J", (void *)waitNanos},
    {"keepWaitFiles", "(Z)V", (void *)keepWaitFiles},
    {"definesContext", "()Ljava/lang/String;", (void *)definesContext},
    {"startContexts", "()Z", (void *)startContexts},
    {"threadContext", "()Ljava/nio/ByteBuffer;", (void *)threadContext},
    {"mapContexts", "(I)Ljava/nio/ByteBuffer;", (void *)mapContexts},
    {"addressOf", "(Ljava/nio/ByteBuffer;)J", (void *)addressOf},
    {"publishContext", "([B)I", (void *)publishContext},
};

// Returns the class that is loading us. Its name is in a system property, and its own class loader resolves it.
static jclass loading_class(JNIEnv *env) {
    jclass system = (*env)->FindClass(env, "java/lang/System");
    if (!system) return 0;
    const char *signature = "(Ljava/lang/String;)Ljava/lang/String;";
    jmethodID get = (*env)->GetStaticMethodID(env, system, "getProperty", signature);
    jstring key = get ? (*env)->NewStringUTF(env, LOADING_CLASS_PROPERTY) : 0;
    jstring name = key ? (*env)->CallStaticObjectMethod(env, system, get, key) : 0;
    if ((*env)->ExceptionCheck(env) || !name) return 0;
    const char *characters = (*env)->GetStringUTFChars(env, name, 0);
    if (!characters) return 0;
    jclass found = (*env)->FindClass(env, characters);
    (*env)->ReleaseStringUTFChars(env, name, characters);
    return found;
}

__attribute__((visibility("default"))) jint JNI_OnLoad(JavaVM *vm, void *reserved) {
    (void)reserved;
    JNIEnv *env;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
    jclass library = loading_class(env);
    if (!library) return JNI_ERR;
    jint count = sizeof library_methods / sizeof *library_methods;
    if ((*env)->RegisterNatives(env, library, library_methods, count) != 0) return JNI_ERR;

    clock_init();
    clock_functions = shared_functions(&own_functions, &sharing);
    has_vm_structs = hotspot_init();
    jclass thread = (*env)->FindClass(env, "java/lang/Thread");
    eetop = thread ? (*env)->GetFieldID(env, thread, "eetop", "J") : 0;
    (*env)->ExceptionClear(env);  // a JVM without this field: thread ids stay unknown
    return JNI_VERSION_1_8;
}
