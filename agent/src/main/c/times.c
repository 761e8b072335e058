// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The native methods of sun.management.ThreadImpl behind ThreadMXBean's CPU times. Thread id 0 means the caller, as in
// the JDK. The JDK also passes 0 if a program passes the caller's own id, but not if that is one of several ids.

#include "agent.h"

typedef jlong time_native(JNIEnv *, jclass, jlong);
typedef void times_native(JNIEnv *, jclass, jlongArray, jlongArray);

#define STOCK "Java_sun_management_ThreadImpl_"

static time_native *stock_cpu, *stock_user;
static times_native *stock_cpus, *stock_users;
static int answers_for_others;

static int answers_virtual;

// Returns the caller's time. For a virtual thread this is its own time, if the JDK lets virtual threads get this far.
static jlong own_nanos(int32_t value, int64_t (*read)(void)) {
    jlong nanos = READ(answers_virtual) ? clock_functions->virtualNanos(value) : -1;
    return nanos >= 0 ? nanos : read();
}

void times_answer_virtual(int on) { WRITE(answers_virtual, on); }

static jlong cpu(JNIEnv *env, jclass c, jlong id) {
    return id == 0 ? own_nanos(VIRTUAL_CPU, clock_functions->cpuNanos) : stock_cpu(env, c, id);
}

static jlong user(JNIEnv *env, jclass c, jlong id) {
    if (id == 0) return own_nanos(VIRTUAL_USER, clock_functions->userNanos);
    jlong nanos = answers_for_others ? read_user_time(env, id) : USE_STOCK;
    return nanos == USE_STOCK ? stock_user(env, c, id) : nanos;
}

// Stores the caller's own time wherever its id occurs. For a virtual thread, the JVM has stored -1 there.
static void answer_own(JNIEnv *env, jlongArray ids, jlongArray into, int32_t value, int64_t (*read)(void)) {
    enum { CHUNK = 64 };
    if ((*env)->ExceptionCheck(env)) return;
    int is_virtual;
    jlong own_id = current_thread_id(env, &is_virtual), id[CHUNK], nanos = 0;
    if (is_virtual && !READ(answers_virtual)) return;
    int is_read = 0;
    jsize length = (*env)->GetArrayLength(env, ids);
    for (jsize start = 0; start < length; start += CHUNK) {
        jsize n = length - start < CHUNK ? length - start : CHUNK;
        (*env)->GetLongArrayRegion(env, ids, start, n, id);
        for (jsize i = 0; i < n; i++) {
            if (id[i] != own_id) continue;
            if (!is_read) nanos = is_virtual ? clock_functions->virtualNanos(value) : read();
            is_read = 1;
            (*env)->SetLongArrayRegion(env, into, start + i, 1, &nanos);
        }
    }
}

static void cpus(JNIEnv *env, jclass c, jlongArray ids, jlongArray into) {
    stock_cpus(env, c, ids, into);
    answer_own(env, ids, into, VIRTUAL_CPU, clock_functions->cpuNanos);
}

static void users(JNIEnv *env, jclass c, jlongArray ids, jlongArray into) {
    if (!answers_for_others || !read_user_times(env, ids, into)) stock_users(env, c, ids, into);
    answer_own(env, ids, into, VIRTUAL_USER, clock_functions->userNanos);
}

// Returns the number of read system calls that the calling thread has made, including those of this function, or -1 if
// the kernel does not count them.
static int64_t read_calls(void) {
    static const char key[] = "syscr: ";
    char text[512];
    long file = SYSCALL(__NR_openat, -100, "/proc/thread-self/io", 0, 0);
    if (file < 0) return -1;
    long length = SYSCALL(__NR_read, file, text, sizeof text - 1);
    SYSCALL(__NR_close, file);
    for (long i = 0; i + (long)sizeof key <= length; i++) {
        long k = 0;
        while (k < (long)sizeof key - 1 && text[i + k] == key[k]) k++;
        if (k < (long)sizeof key - 1) continue;
        int64_t count = 0;
        for (i += k; i < length && text[i] >= '0' && text[i] <= '9'; i++) count = count * 10 + (text[i] - '0');
        return count;
    }
    return -1;
}

// Returns whether the JVM reads another thread's user time from /proc as text: 1 or 0, or -1 if this is unknown. If it
// does, it makes read system calls; otherwise it calls clock_gettime. JDK-8372584 changed this in JDK 26, and vendors
// changed it in updates of older JDKs.
int times_user_is_text(JNIEnv *env) {
    int is_virtual;
    jlong id = current_thread_id(env, &is_virtual);
    if (is_virtual || !stock_user) return -1;
    int64_t start = read_calls(), between = read_calls();
    jlong nanos = stock_user(env, 0, id);
    int64_t end = read_calls();
    if (start < 0 || between <= start || nanos < 0) return -1;
    return end - between > between - start;
}

const char *times_prepare(void) {
    stock_cpu = (time_native *)symbol_in("libmanagement.so", STOCK "getThreadTotalCpuTime0");
    stock_user = (time_native *)symbol_in("libmanagement.so", STOCK "getThreadUserCpuTime0");
    stock_cpus = (times_native *)symbol_in("libmanagement.so", STOCK "getThreadTotalCpuTime1");
    stock_users = (times_native *)symbol_in("libmanagement.so", STOCK "getThreadUserCpuTime1");
    int found = stock_cpu && stock_user && stock_cpus && stock_users;
    return found ? 0 : "libmanagement does not have the expected natives";
}

static const char *replace_all(JNIEnv *env, jclass class, time_native *c, time_native *u, times_native *cs,
                               times_native *us) {
    int done = replace_native(env, class, "getThreadTotalCpuTime0", "(J)J", (void *)c) &
               replace_native(env, class, "getThreadUserCpuTime0", "(J)J", (void *)u) &
               replace_native(env, class, "getThreadTotalCpuTime1", "([J[J)V", (void *)cs) &
               replace_native(env, class, "getThreadUserCpuTime1", "([J[J)V", (void *)us);
    return done ? 0 : "sun.management.ThreadImpl does not have the expected natives";
}

const char *times_restore(JNIEnv *env, jclass thread_impl) {
    return replace_all(env, thread_impl, stock_cpu, stock_user, stock_cpus, stock_users);
}

const char *times_take(JNIEnv *env, jclass thread_impl, int others) {
    answers_for_others = others;
    const char *failure = replace_all(env, thread_impl, cpu, user, cpus, users);
    if (failure) times_restore(env, thread_impl);
    return failure;
}

jlong times_now(JNIEnv *env, jclass thread_impl, const char *native) {
    jmethodID method = (*env)->GetStaticMethodID(env, thread_impl, native, "(J)J");
    jlong nanos = method ? (*env)->CallStaticLongMethod(env, thread_impl, method, (jlong)0) : -1;
    if (!(*env)->ExceptionCheck(env)) return nanos;
    (*env)->ExceptionClear(env);
    return -1;
}

jlong times_stock_cpu(JNIEnv *env, jlong id) { return stock_cpu ? stock_cpu(env, 0, id) : -1; }

jlong times_stock_user(JNIEnv *env, jlong id) { return stock_user ? stock_user(env, 0, id) : -1; }
