// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// Tests the native library without a JVM: provides a fake JNI function table, and calls JNI_OnLoad and the functions
// that the library registers. With SANITIZED, this test is linked with the library's sources and runs under sanitizers.
// Otherwise it opens the packaged library and uses the C library that it was compiled for.

#include <dirent.h>
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

// ---- a fake JNI function table, with the functions that the library calls

struct array {
    jsize length;
    jsize released;
    union {
        jint ints[1024];
        jlong longs[1024];
    };
};

struct method {
    char name[32];
    void *function;
};

static struct method methods[64];
static int method_count;
static jlong eetop_value;
static int eetop_reads;

static jclass find_class(JNIEnv *e, const char *name) {
    (void)e;
    return strcmp(name, "org/taskclock/Library") && strncmp(name, "java/lang/", 10) ? 0 : (jclass)methods;
}
static jmethodID static_method(JNIEnv *e, jclass c, const char *name, const char *type) {
    (void)e, (void)c, (void)type;
    return strcmp(name, "getProperty") ? 0 : (jmethodID)methods;
}
static jfieldID field(JNIEnv *e, jclass c, const char *name, const char *type) {
    (void)e, (void)c;
    return strcmp(name, "eetop") || strcmp(type, "J") ? 0 : (jfieldID)methods;
}
static jlong long_field(JNIEnv *e, jobject o, jfieldID f) {
    (void)e, (void)o, (void)f;
    eetop_reads++;
    return eetop_value;
}
static jobject call_static(JNIEnv *e, jclass c, jmethodID m, ...) {
    (void)e, (void)c, (void)m;
    return (jobject) "org/taskclock/Library";
}
static jstring new_string(JNIEnv *e, const char *text) {
    (void)e;
    return (jstring)text;
}
static const char *string_chars(JNIEnv *e, jstring s, jboolean *copy) {
    (void)e, (void)copy;
    return (const char *)s;
}
static void release_chars(JNIEnv *e, jstring s, const char *c) { (void)e, (void)s, (void)c; }
static jboolean exception_check(JNIEnv *e) { return (void)e, JNI_FALSE; }
static void exception_clear(JNIEnv *e) { (void)e; }
static jint register_natives(JNIEnv *e, jclass c, const JNINativeMethod *m, jint count) {
    (void)e, (void)c;
    for (jint i = 0; i < count; i++, method_count++) {
        CHECK(method_count < 64 && strlen(m[i].name) < sizeof methods[0].name);
        strcpy(methods[method_count].name, m[i].name);
        methods[method_count].function = m[i].fnPtr;
    }
    return 0;
}
static jsize array_length(JNIEnv *e, jarray a) { return (void)e, ((struct array *)a)->length; }
static jint *int_elements(JNIEnv *e, jintArray a, jboolean *copy) {
    (void)e, (void)copy;
    return ((struct array *)a)->ints;
}
static void release_ints(JNIEnv *e, jintArray a, jint *ints, jint mode) {
    (void)e, (void)ints, (void)mode;
    ((struct array *)a)->released++;
}
static void get_ints(JNIEnv *e, jintArray a, jsize start, jsize count, jint *into) {
    (void)e;
    CHECK(start >= 0 && count >= 0 && start + count <= ((struct array *)a)->length);
    memcpy(into, ((struct array *)a)->ints + start, (size_t)count * sizeof *into);
}
static void set_longs(JNIEnv *e, jlongArray a, jsize start, jsize count, const jlong *from) {
    (void)e;
    CHECK(start >= 0 && count >= 0 && start + count <= ((struct array *)a)->length);
    memcpy(((struct array *)a)->longs + start, from, (size_t)count * sizeof *from);
}

static struct JNINativeInterface_ table = {
    .FindClass = find_class,
    .GetStaticMethodID = static_method,
    .GetFieldID = field,
    .GetLongField = long_field,
    .CallStaticObjectMethod = call_static,
    .NewStringUTF = new_string,
    .GetStringUTFChars = string_chars,
    .ReleaseStringUTFChars = release_chars,
    .ExceptionCheck = exception_check,
    .ExceptionClear = exception_clear,
    .RegisterNatives = register_natives,
    .GetArrayLength = array_length,
    .GetIntArrayElements = int_elements,
    .ReleaseIntArrayElements = release_ints,
    .GetIntArrayRegion = get_ints,
    .SetLongArrayRegion = set_longs,
};
static JNIEnv env = &table;

static jint get_env(JavaVM *vm, void **into, jint version) {
    (void)vm, (void)version;
    *into = (void *)&env;
    return JNI_OK;
}
static struct JNIInvokeInterface_ vm_table = {.GetEnv = get_env};
static JavaVM vm = &vm_table;

static void *native_method(const char *name) {
    for (int i = 0; i < method_count; i++)
        if (!strcmp(methods[i].name, name)) return methods[i].function;
    fprintf(stderr, "the library did not register %s\n", name);
    exit(1);
}

#define CALL(type, name, ...) ((type)native_method(name))(&env, 0, ##__VA_ARGS__)
typedef jlong (*long_function)(JNIEnv *, jclass);
typedef jlong (*long_of_id)(JNIEnv *, jclass, jint);
typedef void (*fill_longs)(JNIEnv *, jclass, struct array *);
typedef jint (*fill_ids)(JNIEnv *, jclass, struct array *);

// ---- the checks

static volatile unsigned sink;

// Selects the best backend that works here, if there is one, twice, as two copies of the library would.
static void check_backends(void) {
    typedef jint (*int_of_int)(JNIEnv *, jclass, jint);
    for (jint backend = 1; backend <= 2; backend++) {
        jint probe_result = CALL(int_of_int, "selectBackend", backend);
        CHECK(probe_result >= 0 && CALL(int_of_int, "selectBackend", backend) == probe_result);
        if (!probe_result) CHECK(CALL(long_function, "counterHertz") > 0);
        if (!probe_result) return;
    }
}

static void *read_repeatedly(void *unused) {
    (void)unused;
    jlong last_user = 0, last_system = 0, last_cpu = 0;
    while (reference_cpu_nanos() < 200000000) {
        for (unsigned i = 0; i < 10000; i++) sink += i;
        int64_t before = reference_cpu_nanos();
        jlong cpu = CALL(long_function, "nowCpuNanos");
        jlong user = CALL(long_function, "nowUserNanos");
        // A reading is ahead by at most the life of a base.
        CHECK(cpu >= before - 1000 && cpu <= reference_cpu_nanos() + 10000000);
        CHECK(user >= last_user && cpu - user >= last_system && cpu >= last_cpu);
        last_user = user, last_system = cpu - user, last_cpu = cpu;
        CHECK(CALL(long_function, "userNanos") >= user);
        CHECK(CALL(long_function, "systemNanos") >= cpu - user);
        CHECK(CALL(long_function, "cpuNanos") >= cpu);
    }
    return 0;
}

static void check_threads(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], 0, read_repeatedly, 0) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], 0) == 0);
}

static void *read_once(void *unused) {
    int64_t before = reference_cpu_nanos();
    jlong cpu = CALL(long_function, "nowCpuNanos"), user = CALL(long_function, "nowUserNanos");
    // The clock must not include an earlier thread's time, and is ahead by at most the life of a base. The kernel may
    // still report 0.
    CHECK(cpu >= 0 && cpu >= before - 2000 && user >= 0 && user <= cpu && cpu <= reference_cpu_nanos() + 10000000);
    return unused;
}

// Each thread has its own state, which starts empty and is freed when the thread ends.
static void check_short_threads(void) {
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, 0, read_once, 0) == 0);
        CHECK(pthread_join(thread, 0) == 0);
    }
}

// More than one if an emulator has threads of its own.
static jint count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    jint count = -2;  // . and ..
    while (readdir(tasks)) count++;
    closedir(tasks);
    return count;
}

static void check_thread_lists(void) {
    static struct array ids, nanos;
    ids.length = nanos.length = 1024;
    jint count = CALL(fill_ids, "tids", &ids);
    CHECK(count == count_threads() && ids.ints[0] == getpid() && ids.released == 1);
    ids.length = 0;
    CHECK(CALL(fill_ids, "tids", &ids) == count);  // more than fits into the array

    ids.length = 1000;
    for (int i = 0; i < 1000; i++) ids.ints[i] = (jint)(~0u << 3 | 4 | 2);
    ids.ints[999] = (jint)(~0x7fffffu << 3 | 4 | 2);  // no such thread
    nanos.length = 1000;
    typedef void (*read_clocks)(JNIEnv *, jclass, struct array *, struct array *, jint);
    CALL(read_clocks, "clocks", &ids, &nanos, 1000);
    for (int i = 1; i < 999; i++) CHECK(nanos.longs[i] >= nanos.longs[i - 1] && nanos.longs[i - 1] > 0);
    CHECK(nanos.longs[999] == -1);
}

typedef jint (*int_function)(JNIEnv *, jclass);
typedef jboolean (*bool_function)(JNIEnv *, jclass);
typedef jlong (*long_of_string)(JNIEnv *, jclass, jstring);

static const char *const names[] = {"cpuNanos",   "userNanos", "systemNanos", "nowCpuNanos", "nowUserNanos",
                                    "clockNanos", "tickStamp", "virtualNanos"};
enum { NAMES = sizeof names / sizeof *names };

static void look_up_functions(jlong *into) {
    for (int i = 0; i < NAMES; i++) CHECK((into[i] = CALL(long_of_string, "address", (jstring)names[i])));
    CHECK(CALL(long_of_string, "address", (jstring) "cpu") == 0);
}

static void check_status(void) {
    static struct array rusage = {.length = 2};
    CHECK(CALL(int_function, "kernelRefusal") == 0);
    jlong tick = CALL(long_function, "resolutionOfTicks");
    CHECK(tick > 0 && tick <= 10000000);  // at least 100 Hz
    CHECK(CALL(int_function, "shareError") == 0 && CALL(int_function, "foreignPages") == 0);
    CHECK(!CALL(bool_function, "knowsJavaThreads") && !CALL(bool_function, "hasCarriers"));  // no HotSpot, no agent
    CALL(fill_longs, "rusage", &rusage);
    CHECK(rusage.longs[0] + rusage.longs[1] > 0);
    CHECK(CALL(long_function, "budgetNanos") == 100 && CALL(long_function, "lifeNanos") > 0);
    CHECK(CALL(long_function, "calibrationResets") >= 0 && CALL(long_function, "restores") == 0);
    CHECK(CALL(long_function, "tickStamp") > 0);
    CHECK(CALL(long_of_id, "clockNanos", (jint)(~0u << 3 | 4 | 1)) >= 0);
    CHECK(CALL(long_of_id, "clockNanos", (jint)(~0u << 3 | 4 | 3)) == -1);
}

// Without HotSpot's tables no thread id is known, no matter what eetop contains.
static void check_no_hotspot(void) {
    eetop_value = 1;
    CHECK(((jint(*)(JNIEnv *, jclass, jobject))native_method("tid"))(&env, 0, 0) == -1 && eetop_reads == 2);
}

typedef jint (*load_function)(JavaVM *, void *);

// Opens the first or second copy of the library, whose files are the program's arguments. With SANITIZED, the linked
// code serves as both copies.
static load_function open_library(int count, char **arguments, int copy) {
#ifdef SANITIZED
    (void)count, (void)arguments, (void)copy;
    extern jint JNI_OnLoad(JavaVM *, void *);
    return JNI_OnLoad;
#else
    CHECK(count == 3);
    void *library = dlopen(arguments[1 + copy], RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHECK(library && !dlsym(library, "cpuNanos"));
    load_function on_load;
    *(void **)&on_load = dlsym(library, "JNI_OnLoad");
    CHECK(on_load);
    return on_load;
#endif
}

static void load(load_function on_load, jlong *functions) {
    method_count = 0;
    CHECK(on_load(&vm, 0) == JNI_VERSION_1_8);
    ((void (*)(JNIEnv *, jclass, jclass))native_method("bind"))(&env, 0, 0);
    look_up_functions(functions);
}

int main(int count, char **arguments) {
    jlong first[NAMES], second[NAMES];
    load(open_library(count, arguments, 0), first);
    CHECK(CALL(bool_function, "isFirstCopy"));
    check_thread_lists();
    check_status();
    check_no_hotspot();
    check_threads();
    check_short_threads();
    load(open_library(count, arguments, 1), second);
    CHECK(!memcmp(first, second, sizeof first));  // the second copy uses the functions of the first
    check_backends();
    check_threads();
    check_short_threads();
    puts("native check: passed");
    return 0;
}
