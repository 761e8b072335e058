// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The natives behind ThreadMXBean's CPU times, sun.management.ThreadImpl's. Thread id 0 is the caller, as the JDK has it;
// the JDK asks so also where a program gives the caller's own id, but not where that is one of many.

#include "agent.h"

typedef jlong time_of(JNIEnv *, jclass, jlong);
typedef void times_of(JNIEnv *, jclass, jlongArray, jlongArray);

#define STOCK "Java_sun_management_ThreadImpl_"

static time_of *stock_cpu, *stock_user;
static times_of *stock_cpus, *stock_users;
static int answers_for_others;

static int answers_virtual;

// Of the thread that calls; of the virtual one, where the JDK lets one come here.
static jlong own(int what, int64_t (*read)(void)) {
    jlong nanos = READ(answers_virtual) ? clock_functions->virtualNanos(what) : -1;
    return nanos >= 0 ? nanos : read();
}

void times_answer_virtual(int wanted) { WRITE(answers_virtual, wanted); }

static jlong cpu(JNIEnv *env, jclass c, jlong id) {
    return id == 0 ? own(VIRTUAL_CPU, clock_functions->cpuNanos) : stock_cpu(env, c, id);
}

static jlong user(JNIEnv *env, jclass c, jlong id) {
    if (id == 0) return own(VIRTUAL_USER, clock_functions->userNanos);
    jlong nanos = answers_for_others ? ask_user(env, id) : NOT_OURS;
    return nanos == NOT_OURS ? stock_user(env, c, id) : nanos;
}

// Fills in the caller's own time wherever its id is among the ids. For a virtual thread the JVM has said -1 there.
static void answer_own(JNIEnv *env, jlongArray ids, jlongArray into, int what, int64_t (*read)(void)) {
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
            if (!is_read) nanos = is_virtual ? clock_functions->virtualNanos(what) : read();
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
    if (!answers_for_others || !ask_users(env, ids, into)) stock_users(env, c, ids, into);
    answer_own(env, ids, into, VIRTUAL_USER, clock_functions->userNanos);
}

// How many read system calls the calling thread has made, itself included; -1 where the kernel does not count them.
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

// Whether the JVM reads another thread's user time from /proc, as text: it then makes read system calls, and clock_gettime
// otherwise. 1 or 0; -1 where this cannot be seen. JDK-8372584 changed it in JDK 26, and vendors in updates of older ones.
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
    stock_cpu = (time_of *)symbol_in("libmanagement.so", STOCK "getThreadTotalCpuTime0");
    stock_user = (time_of *)symbol_in("libmanagement.so", STOCK "getThreadUserCpuTime0");
    stock_cpus = (times_of *)symbol_in("libmanagement.so", STOCK "getThreadTotalCpuTime1");
    stock_users = (times_of *)symbol_in("libmanagement.so", STOCK "getThreadUserCpuTime1");
    return stock_cpu && stock_user && stock_cpus && stock_users ? 0 : "libmanagement has other natives than known";
}

static const char *put(JNIEnv *env, jclass in, time_of *c, time_of *u, times_of *cs, times_of *us) {
    int done = replace(env, in, "getThreadTotalCpuTime0", "(J)J", (void *)c) &
               replace(env, in, "getThreadUserCpuTime0", "(J)J", (void *)u) &
               replace(env, in, "getThreadTotalCpuTime1", "([J[J)V", (void *)cs) &
               replace(env, in, "getThreadUserCpuTime1", "([J[J)V", (void *)us);
    return done ? 0 : "sun.management.ThreadImpl has other natives than known";
}

const char *times_restore(JNIEnv *env, jclass thread_impl) {
    return put(env, thread_impl, stock_cpu, stock_user, stock_cpus, stock_users);
}

const char *times_take(JNIEnv *env, jclass thread_impl, int others) {
    answers_for_others = others;
    const char *failure = put(env, thread_impl, cpu, user, cpus, users);
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
