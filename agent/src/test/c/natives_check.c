// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Checks what the agent's natives do if a library is not found, and if threads share the last yield record; that a
// thread's time is never less by its id than what it read of itself; and that the JVM's natives return.

#include "check.h"

#include <pthread.h>
#include <string.h>

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

// The JVM's own natives behind ThreadMXBean, for one thread.
typedef jlong time_native(JNIEnv *, jclass, jlong);
typedef void times_native(JNIEnv *, jclass, jlongArray, jlongArray);
static jlong jvm_cpu_time, jvm_user_time;

static jlong jvm_cpu(JNIEnv *env, jclass c, jlong id) {
    (void)env, (void)c, (void)id;
    return jvm_cpu_time;
}

static jlong jvm_user(JNIEnv *env, jclass c, jlong id) {
    (void)env, (void)c, (void)id;
    return jvm_user_time;
}

static void jvm_cpus(JNIEnv *env, jclass c, jlongArray ids, jlongArray into) {
    (void)env, (void)c, (void)ids;
    *(jlong *)into = jvm_cpu_time;
}

static void jvm_users(JNIEnv *env, jclass c, jlongArray ids, jlongArray into) {
    (void)env, (void)c, (void)ids;
    *(jlong *)into = jvm_user_time;
}

static const struct {
    const char *name;
    void *function;
} jvm_natives[] = {
    {"getThreadTotalCpuTime0", (void *)jvm_cpu},
    {"getThreadUserCpuTime0", (void *)jvm_user},
    {"getThreadTotalCpuTime1", (void *)jvm_cpus},
    {"getThreadUserCpuTime1", (void *)jvm_users},
};
enum { TIMES = 4 };

void *dlsym(void *library, const char *name) {
    (void)library;
    for (int i = 0; i < TIMES; i++)
        if (strstr(name, jvm_natives[i].name)) return jvm_natives[i].function;
    return (void *)stock;
}

static void *registered, *registered_times[TIMES];

static jint JNICALL register_natives(JNIEnv *env, jclass c, const JNINativeMethod *methods, jint count) {
    (void)env, (void)c, (void)count;
    registered = methods->fnPtr;
    for (int i = 0; i < TIMES; i++)
        if (!strcmp(methods->name, jvm_natives[i].name)) registered_times[i] = registered;
    return 0;
}

static void JNICALL clear_exception(JNIEnv *env) { (void)env; }

static jboolean JNICALL check_exception(JNIEnv *env) {
    (void)env;
    return 0;
}

static void JNICALL call_static_void(JNIEnv *env, jclass c, jmethodID method, ...) { (void)env, (void)c, (void)method; }

enum { OWN_ID = 7 };

static jobject JNICALL call_static_object(JNIEnv *env, jclass c, jmethodID method, ...) {
    (void)env, (void)c, (void)method;
    return (jobject)1;
}

// A platform thread.
static jlong JNICALL get_long_field(JNIEnv *env, jobject object, jfieldID field) {
    (void)env, (void)object, (void)field;
    return OWN_ID;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object) { (void)env, (void)object; }

static jsize JNICALL get_array_length(JNIEnv *env, jarray array) {
    (void)env, (void)array;
    return 1;
}

static void JNICALL get_region(JNIEnv *env, jlongArray array, jsize start, jsize length, jlong *into) {
    (void)env;
    memcpy(into, (jlong *)array + start, (size_t)length * sizeof *into);
}

static void JNICALL set_region(JNIEnv *env, jlongArray array, jsize start, jsize length, const jlong *from) {
    (void)env;
    memcpy((jlong *)array + start, from, (size_t)length * sizeof *from);
}

static const struct JNINativeInterface_ interface = {
    .RegisterNatives = register_natives,
    .ExceptionClear = clear_exception,
    .ExceptionCheck = check_exception,
    .CallStaticVoidMethod = call_static_void,
    .CallStaticObjectMethod = call_static_object,
    .GetLongField = get_long_field,
    .DeleteLocalRef = delete_local_ref,
    .GetArrayLength = get_array_length,
    .GetLongArrayRegion = get_region,
    .SetLongArrayRegion = set_region,
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

static int64_t clock_cpu, clock_user, now;

static int64_t read_cpu(void) { return clock_cpu; }

static int64_t read_user(void) { return clock_user; }

static int64_t read_now(void) { return now; }

static jlong cpu_of(jlong id) { return ((time_native *)registered_times[0])(&env, 0, id); }

static jlong user_of(jlong id) { return ((time_native *)registered_times[1])(&env, 0, id); }

// Reads the array that contains only this id.
static jlong element(int native, jlong id) {
    jlong time = 0;
    ((times_native *)registered_times[native])(&env, 0, (jlongArray)&id, (jlongArray)&time);
    return time;
}

static void *read_by_id(void *unused) {
    jlong other = OWN_ID;
    CHECK(cpu_of(other) == clock_cpu);
    CHECK(element(2, other) == clock_cpu);
    jvm_cpu_time = clock_cpu + 100;
    CHECK(cpu_of(other) == jvm_cpu_time);
    return unused;
}

static int are_the_jvms_own(void) {
    for (int i = 0; i < TIMES; i++)
        if (registered_times[i] != jvm_natives[i].function) return 0;
    return 1;
}

static void check_times(void) {
    enum { SECOND = 1000000000 };
    static struct functions functions = {.cpuNanos = read_cpu, .userNanos = read_user, .tickStamp = read_now};
    clock_functions = &functions;
    now = 10LL * SECOND;
    CHECK(!times_prepare());
    CHECK(!times_take(&env, 0, 0, 0));
    CHECK(!are_the_jvms_own());
    clock_cpu = 5000;
    clock_user = 4000;
    jvm_cpu_time = 4900;
    jvm_user_time = 3000;
    CHECK(cpu_of(0) == 5000);
    CHECK(user_of(0) == 4000);
    CHECK(user_of(OWN_ID) == 4000);
    // The kernel is behind what the thread has read of itself.
    pthread_t other;
    CHECK(pthread_create(&other, 0, read_by_id, 0) == 0);
    pthread_join(other, 0);

    times_stop();
    CHECK(user_of(0) == 4000);
    for (int i = 0; i < 3; i++) {
        now += SECOND;
        CHECK(user_of(OWN_ID) == 4000 && element(3, OWN_ID) == 4000);
        CHECK(!are_the_jvms_own());
    }
    jvm_user_time = 4000;
    now += SECOND;
    CHECK(user_of(OWN_ID) == 4000);
    CHECK(are_the_jvms_own());

    // The next installation begins with what the JVM says now.
    jvm_user_time = 4100;
    CHECK(!times_take(&env, 0, 0, 1));
    CHECK(!are_the_jvms_own());
    CHECK(user_of(0) == 4100);
    times_stop();
    now += 2LL * SECOND;
    CHECK(cpu_of(OWN_ID) == jvm_cpu_time);
    CHECK(are_the_jvms_own());
}

int main(void) {
    check_registrar();
    check_times();
    check_shared_interval();
    return 0;
}
