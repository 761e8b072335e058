// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The native methods of sun.management.ThreadImpl behind ThreadMXBean's CPU times. Thread id 0 means the caller, as in
// the JDK. The JDK also passes 0 if a program passes the caller's own id, but not if that is one of several ids.

#include "agent.h"
#include "floors.h"

typedef jlong time_native(JNIEnv *, jclass, jlong);
typedef void times_native(JNIEnv *, jclass, jlongArray, jlongArray);

#define STOCK "Java_sun_management_ThreadImpl_"

static time_native *stock_cpu, *stock_user;
static times_native *stock_cpus, *stock_users;
static int answers_for_others;

static int answers_virtual;
// Whether the JDK has ever let virtual threads get this far. One of them may be on its way at any later time, so the
// JVM's own natives, which would give it its carrier's time, stay replaced from then on.
static int lets_virtual;

// The natives stay replaced for some time after the agent stops answering, so that no time goes backwards.
enum { INACTIVE, ANSWERING, LEAVING, CHANGING };
static int state;
static int32_t installations;
enum { STOPPED = -1 };
static int32_t generation = STOPPED;  // the number of the installation while we answer
static int has_floors;                // whether the JVM may have answered before
static int64_t changed_at;            // the tick stamp of the last change between the JVM's answers and ours
// By then, calls that began before a change have returned.
static const int64_t SETTLED_AFTER = 1000000000;

static __thread struct {
    struct floors *floors;      // valid for the times whose generation is current
    int32_t generation[TIMES];  // when `floors->jvm` was determined on this thread
    struct floors unlisted;     // if the table has no room
} self;

static jlong jvm_nanos(void *env, int time, int64_t id) {
    return (time == CPU_TIME ? stock_cpu : stock_user)(env, 0, id);
}

static jlong highest(jlong a, jlong b) { return a > b ? a : b; }

static int is_settled(void) { return clock_functions->tickStamp() - READ(changed_at) > SETTLED_AFTER; }

static const char *replace_all(JNIEnv *env, jclass class, time_native *c, time_native *u, times_native *cs,
                               times_native *us) {
    int done = replace_native(env, class, "getThreadTotalCpuTime0", "(J)J", (void *)c) &
               replace_native(env, class, "getThreadUserCpuTime0", "(J)J", (void *)u) &
               replace_native(env, class, "getThreadTotalCpuTime1", "([J[J)V", (void *)cs) &
               replace_native(env, class, "getThreadUserCpuTime1", "([J[J)V", (void *)us);
    return done ? 0 : "sun.management.ThreadImpl does not have the expected natives";
}

static int change_from(int before) {
    return __atomic_compare_exchange_n(&state, &before, CHANGING, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// Restores the JVM's natives as soon as its times have passed all that we have said. Each call checks one thread, and
// at most one call per tick does.
static void step_aside(JNIEnv *env, jclass c) {
    static int64_t last_tick;
    static int is_checking, all_passed;
    static int32_t next, checked;
    if (READ(state) != LEAVING || READ(lets_virtual)) return;
    int64_t tick = clock_functions->tickStamp();
    if (tick == READ(last_tick) || !is_settled() || __atomic_exchange_n(&is_checking, 1, __ATOMIC_ACQUIRE)) return;
    WRITE(last_tick, tick);
    if (checked != READ(installations)) checked = installations, next = 0;
    int is_first = !next, passed = floors_passed(&next, env, jvm_nanos) && (is_first || all_passed);
    all_passed = passed;
    __atomic_store_n(&is_checking, 0, __ATOMIC_RELEASE);
    if (!passed || next || !change_from(LEAVING)) return;
    int is_same = checked == READ(installations);
    if (is_same) replace_all(env, c, stock_cpu, stock_user, stock_cpus, stock_users);
    __atomic_store_n(&state, is_same ? INACTIVE : LEAVING, __ATOMIC_RELEASE);
}

// The calling thread's first read since the agent began or stopped to answer.
static __attribute__((noinline)) jlong first_own_nanos(JNIEnv *env, jclass c, int time, int64_t (*read)(void)) {
    int is_virtual;
    jlong id = current_thread_id(env, &is_virtual);
    if (is_virtual) return -1;
    int32_t now = READ(generation);
    jlong jvm = now != STOPPED && !READ(has_floors) ? 0 : jvm_nanos(env, time, 0);
    if (now == STOPPED) {
        struct floors *f = self.floors ? self.floors : floors_find(id);
        step_aside(env, c);
        return jvm < 0 || !f ? jvm : highest(jvm, floor_of(f, time));
    }
    struct floors *f = floors_claim(id, env, jvm_nanos);
    if (!f) f = &self.unlisted;
    WRITE(f->tid, (int32_t)SYSCALL(__NR_gettid));
    raise_floor(&f->jvm[time], highest(jvm, floor_of(f, time)));
    if (f != self.floors) self.generation[CPU_TIME] = self.generation[USER_TIME] = 0;
    self.floors = f;
    self.generation[time] = now;
    jlong nanos = read(), least = READ(f->jvm[time]);
    if (nanos < least) return nanos < 0 ? nanos : least;
    WRITE(f->own[time], nanos);
    return nanos;
}

static inline jlong own_nanos(JNIEnv *env, jclass c, int time, int64_t (*read)(void)) {
    if (self.generation[time] != READ(generation)) return first_own_nanos(env, c, time, read);
    struct floors *f = self.floors;
    jlong nanos = read(), least = READ(f->jvm[time]);
    if (nanos < least) return nanos < 0 ? nanos : least;
    WRITE(f->own[time], nanos);
    return nanos;
}

// Returns the caller's time. For a virtual thread this is its own time, if the JDK lets virtual threads get this far.
static inline jlong caller_nanos(JNIEnv *env, jclass c, int time, int32_t value, int64_t (*read)(void)) {
    if (READ(lets_virtual)) {
        jlong nanos = clock_functions->virtualNanos(value);
        if (nanos >= 0) return nanos;
    }
    return own_nanos(env, c, time, read);
}

void times_answer_virtual(int on) {
    if (on) WRITE(lets_virtual, 1);
    WRITE(answers_virtual, on);
}

// Returns what to answer another thread, which is at least what earlier answers were and what the thread was told of
// itself. is_jvm: `nanos` is the JVM's answer.
static jlong other_nanos(JNIEnv *env, jlong id, int time, jlong nanos, int is_jvm) {
    if (nanos < 0) return nanos;
    int32_t now = READ(generation);
    struct floors *f = now == STOPPED ? floors_find(id) : floors_claim(id, env, jvm_nanos);
    if (!f) return nanos;
    if (now != STOPPED && READ(has_floors) && READ(f->generation[time]) != now) {
        // Until the change has settled, the JVM may still be giving answers to calls that began before.
        int is_last = is_settled();
        raise_floor(&f->jvm[time], is_jvm ? nanos : jvm_nanos(env, time, id));
        if (is_last) WRITE(f->generation[time], now);
    }
    jlong least = floor_of(f, time);
    if (__atomic_load_n(&f->id, __ATOMIC_ACQUIRE) != id) return nanos;  // it has ended, and the record is another's
    nanos = highest(nanos, least);
    if (time == USER_TIME) raise_floor(&f->other_user, nanos);
    return nanos;
}

static jlong cpu(JNIEnv *env, jclass c, jlong id) {
    if (id == 0) return caller_nanos(env, c, CPU_TIME, VIRTUAL_CPU, clock_functions->cpuNanos);
    step_aside(env, c);
    return other_nanos(env, id, CPU_TIME, stock_cpu(env, c, id), 1);
}

static jlong user(JNIEnv *env, jclass c, jlong id) {
    if (id == 0) return caller_nanos(env, c, USER_TIME, VIRTUAL_USER, clock_functions->userNanos);
    step_aside(env, c);
    jlong nanos = answers_for_others && READ(generation) != STOPPED ? read_user_time(env, id) : USE_STOCK;
    int is_jvm = nanos == USE_STOCK;
    return other_nanos(env, id, USER_TIME, is_jvm ? stock_user(env, c, id) : nanos, is_jvm);
}

// Corrects the answers for many threads. The caller's own time is the same wherever its id occurs. For a virtual
// thread, the JVM has stored -1 there.
static void correct_all(JNIEnv *env, jclass c, jlongArray ids, jlongArray into, int time, int is_jvm) {
    enum { CHUNK = 64 };
    if ((*env)->ExceptionCheck(env)) return;
    step_aside(env, c);
    int is_virtual;
    jlong own_id = current_thread_id(env, &is_virtual), own = -1, id[CHUNK], nanos[CHUNK];
    int is_read = is_virtual && !READ(answers_virtual);
    jsize length = (*env)->GetArrayLength(env, ids);
    for (jsize start = 0; start < length; start += CHUNK) {
        jsize n = length - start < CHUNK ? length - start : CHUNK;
        (*env)->GetLongArrayRegion(env, ids, start, n, id);
        (*env)->GetLongArrayRegion(env, into, start, n, nanos);
        for (jsize i = 0; i < n; i++) {
            if (id[i] != own_id) {
                nanos[i] = other_nanos(env, id[i], time, nanos[i], is_jvm);
                continue;
            }
            if (!is_read && is_virtual)
                own = clock_functions->virtualNanos(time == CPU_TIME ? VIRTUAL_CPU : VIRTUAL_USER);
            else if (!is_read)
                own = own_nanos(env, c, time, time == CPU_TIME ? clock_functions->cpuNanos : clock_functions->userNanos);
            is_read = 1;
            nanos[i] = own;
        }
        (*env)->SetLongArrayRegion(env, into, start, n, nanos);
    }
}

static void cpus(JNIEnv *env, jclass c, jlongArray ids, jlongArray into) {
    stock_cpus(env, c, ids, into);
    correct_all(env, c, ids, into, CPU_TIME, 1);
}

static void users(JNIEnv *env, jclass c, jlongArray ids, jlongArray into) {
    int is_ours = answers_for_others && READ(generation) != STOPPED && read_user_times(env, ids, into);
    if (!is_ours) stock_users(env, c, ids, into);
    correct_all(env, c, ids, into, USER_TIME, !is_ours);
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
    return found ? floors_prepare() : "libmanagement does not have the expected natives";
}

const char *times_restore(JNIEnv *env, jclass thread_impl, int at_once) {
    if (READ(state) == INACTIVE) return 0;
    WRITE(changed_at, clock_functions->tickStamp());
    WRITE(generation, STOPPED);
    if (!at_once) {
        change_from(ANSWERING);
        __atomic_store_n(&state, LEAVING, __ATOMIC_RELEASE);
        return 0;
    }
    floors_discard();
    __atomic_store_n(&state, INACTIVE, __ATOMIC_RELEASE);
    return replace_all(env, thread_impl, stock_cpu, stock_user, stock_cpus, stock_users);
}

const char *times_take(JNIEnv *env, jclass thread_impl, int others, int may_have_answered) {
    while (!change_from(INACTIVE) && !change_from(LEAVING) && !change_from(ANSWERING)) SYSCALL(__NR_sched_yield);
    answers_for_others = others;
    WRITE(has_floors, may_have_answered);
    WRITE(changed_at, clock_functions->tickStamp());
    WRITE(installations, installations + 1);
    WRITE(generation, installations);
    const char *failure = replace_all(env, thread_impl, cpu, user, cpus, users);
    __atomic_store_n(&state, ANSWERING, __ATOMIC_RELEASE);
    if (failure) times_restore(env, thread_impl, 1);
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
