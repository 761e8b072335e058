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

// When the agent stops answering, the natives stay replaced, so that no time goes backwards. They then return the JVM's
// times, and more only for a thread whose time the JVM has not passed yet. The JVM's natives return once it has passed
// the times of all threads.
enum { STOPPED = -1 };
static int32_t generation = STOPPED;  // the number of the installation while we answer
static int32_t installations;
static int may_have_answered;  // whether the JVM may have answered before
static int64_t changed_at;     // the tick stamp of the last change between the JVM's answers and ours
// By then, calls that began before a change have returned, and the clock has asked the kernel on each thread.
static const int64_t SETTLED_AFTER = 1000000000;
// Whether the clock alone gives the caller's CPU time.
static int cpu_is_plain;

static int are_replaced;  // the natives
static int is_changing;   // a lock for the natives
static int has_unlisted;  // the table of floors had no room for a thread
static int64_t checked_at;
static const int64_t CHECK_INTERVAL = 100000000;
static int32_t next_to_check;

static __thread struct {
    struct floors *floors;    // null before the thread reads its own times
    int32_t generation;       // of the thread's last reading of its user time from the clock
    int32_t passed_cpu;       // the last installation whose CPU time the JVM has passed
    int32_t passed_user;      // the same for the user time
    int32_t is_check;         // the agent reads, not the program
    struct floors unlisted;   // if the table has no room, and for checks
} self;

static int thread_has_ended(void *env, int64_t id) { return stock_cpu(env, 0, id) < 0; }

static jlong highest(jlong a, jlong b) { return a > b ? a : b; }

static int is_settled(void) { return clock_functions->tickStamp() - READ(changed_at) > SETTLED_AFTER; }

static int try_lock(void) { return !__atomic_exchange_n(&is_changing, 1, __ATOMIC_ACQUIRE); }

static void unlock(void) { __atomic_store_n(&is_changing, 0, __ATOMIC_RELEASE); }

static int replace_all(JNIEnv *env, jclass class, time_native *c, time_native *u, times_native *cs, times_native *us) {
    return replace_native(env, class, "getThreadTotalCpuTime0", "(J)J", (void *)c) &
           replace_native(env, class, "getThreadUserCpuTime0", "(J)J", (void *)u) &
           replace_native(env, class, "getThreadTotalCpuTime1", "([J[J)V", (void *)cs) &
           replace_native(env, class, "getThreadUserCpuTime1", "([J[J)V", (void *)us);
}

static void restore(JNIEnv *env, jclass class) {
    are_replaced = !replace_all(env, class, stock_cpu, stock_user, stock_cpus, stock_users);
}

static int jvm_has_passed(void *env, int64_t id, const struct floors *f) {
    jlong cpu = stock_cpu(env, 0, id);
    return cpu < 0 || (cpu >= READ(f->cpu) && stock_user(env, 0, id) >= floors_highest_user(f));
}

// Called by readings while we do not answer. From its last check on, the JVM only has to pass the times of the threads
// that are left.
static __attribute__((noinline)) void restore_if_passed(JNIEnv *env, jclass class) {
    int64_t now = clock_functions->tickStamp();
    if (now - READ(checked_at) < CHECK_INTERVAL || READ(lets_virtual) || READ(has_unlisted) || !try_lock()) return;
    WRITE(checked_at, now);
    int is_due = are_replaced && READ(generation) == STOPPED && is_settled();
    if (is_due && floors_all_passed(&next_to_check, env, jvm_has_passed)) restore(env, class);
    unlock();
}

// Returns the time of the calling virtual thread, if the JDK lets virtual threads get this far; -1 on other threads.
static inline jlong virtual_nanos(int32_t value) {
    return READ(lets_virtual) ? clock_functions->virtualNanos(value) : -1;
}

static struct floors *claim(JNIEnv *env, jlong id) {
    struct floors *f = floors_claim(id, env, thread_has_ended);
    if (!f) WRITE(has_unlisted, 1);
    return f;
}

static __attribute__((noinline)) struct floors *claim_own(JNIEnv *env, jlong id) {
    struct floors *f = self.is_check ? 0 : claim(env, id);
    if (!f) f = &self.unlisted;
    WRITE(f->tid, (int32_t)SYSCALL(__NR_gettid));
    return self.floors = f;
}

// Returns the caller's CPU time shortly after a change, while we do not answer, and if the thread has no floors yet.
// The clock never returns less than before, and the kernel, which the JVM asks, does not either.
static __attribute__((noinline)) jlong changed_cpu(JNIEnv *env, jclass c) {
    int32_t now = READ(generation), count = READ(installations);
    if (now == STOPPED) {
        restore_if_passed(env, c);
        if (self.passed_cpu == count && !READ(lets_virtual)) return stock_cpu(env, c, 0);
    }
    jlong id = 0;
    if (!self.floors || READ(lets_virtual)) {
        int is_virtual;
        id = current_thread_id(env, &is_virtual);
        if (is_virtual) return clock_functions->virtualNanos(VIRTUAL_CPU);
    }
    jlong ours = clock_functions->cpuNanos(), jvm = READ(cpu_is_plain) ? ours : stock_cpu(env, c, 0);
    if (jvm < 0) return jvm;
    if (now == STOPPED) {
        if (jvm >= ours) self.passed_cpu = count;
    } else {
        if (!self.floors) claim_own(env, id);
        if (is_settled()) WRITE(cpu_is_plain, 1);
    }
    ours = highest(ours, jvm);
    if (self.floors) WRITE(self.floors->cpu, ours);
    return ours;
}

// The first reading of the caller's user time since the agent began to answer, and all while it does not.
static __attribute__((noinline)) jlong changed_user(JNIEnv *env, jclass c) {
    int32_t now = READ(generation), count = READ(installations);
    if (now == STOPPED) {
        restore_if_passed(env, c);
        if (self.passed_user == count && !READ(lets_virtual)) return stock_user(env, c, 0);
    }
    int is_virtual;
    jlong id = current_thread_id(env, &is_virtual);
    if (is_virtual) return virtual_nanos(VIRTUAL_USER);
    if (now == STOPPED) {
        // Calls that began before the change may still raise the floors.
        int is_last = is_settled();
        struct floors *f = self.floors ? self.floors : floors_find(id);
        jlong jvm = stock_user(env, c, 0), least = f ? floors_highest_user(f) : 0;
        if (is_last && jvm >= least) self.passed_user = count;
        return jvm < 0 ? jvm : highest(jvm, least);
    }
    struct floors *f = claim_own(env, id);
    floors_raise(&f->jvm, highest(READ(may_have_answered) ? stock_user(env, c, 0) : 0, floors_highest_user(f)));
    self.generation = now;
    jlong nanos = clock_functions->userNanos(), least = READ(f->jvm);
    if (nanos < least) return nanos < 0 ? nanos : least;
    WRITE(f->own, nanos);
    return nanos;
}

static inline jlong own_cpu(JNIEnv *env, jclass c) {
    jlong virtual = virtual_nanos(VIRTUAL_CPU);
    if (virtual >= 0) return virtual;
    struct floors *f = self.floors;
    if (!READ(cpu_is_plain) || !f) return changed_cpu(env, c);
    jlong nanos = clock_functions->cpuNanos();
    if (nanos >= 0) WRITE(f->cpu, nanos);
    return nanos;
}

static inline jlong own_user(JNIEnv *env, jclass c) {
    jlong virtual = virtual_nanos(VIRTUAL_USER);
    if (virtual >= 0) return virtual;
    if (self.generation != READ(generation)) return changed_user(env, c);
    jlong nanos = clock_functions->userNanos(), least = READ(self.floors->jvm);
    if (nanos < least) return nanos < 0 ? nanos : least;
    WRITE(self.floors->own, nanos);
    return nanos;
}

void times_answer_virtual(int on) {
    if (on) WRITE(lets_virtual, 1);
    WRITE(answers_virtual, on);
}

static int is_of(const struct floors *f, jlong id) { return __atomic_load_n(&f->id, __ATOMIC_ACQUIRE) == id; }

// Returns another thread's CPU time: the kernel's, but at least what that thread last read for itself.
static jlong other_cpu(jlong id, jlong nanos) {
    struct floors *f = nanos < 0 ? 0 : floors_find(id);
    if (!f) return nanos;
    jlong own = READ(f->cpu);
    return own > nanos && is_of(f, id) ? own : nanos;
}

// Returns another thread's user time: at least what any thread has read of it so far. is_jvm: `nanos` is the JVM's
// answer.
static jlong other_user(JNIEnv *env, jlong id, jlong nanos, int is_jvm) {
    if (nanos < 0) return nanos;
    int32_t now = READ(generation);
    struct floors *f = now == STOPPED ? floors_find(id) : claim(env, id);
    if (!f) return nanos;
    if (now != STOPPED && READ(may_have_answered) && READ(f->generation) != now) {
        // Until the change has settled, the JVM may still be answering calls that began before.
        int is_last = is_settled();
        floors_raise(&f->jvm, is_jvm ? nanos : stock_user(env, 0, id));
        if (is_last) WRITE(f->generation, now);
    }
    jlong least = floors_highest_user(f);
    if (!is_of(f, id)) return nanos;  // it has ended, and the record is another's
    nanos = highest(nanos, least);
    floors_raise(&f->other, nanos);  // also while stopped: the call may have begun before
    return nanos;
}

static jlong cpu(JNIEnv *env, jclass c, jlong id) {
    if (id == 0) return own_cpu(env, c);
    if (READ(generation) == STOPPED) restore_if_passed(env, c);
    return other_cpu(id, stock_cpu(env, c, id));
}

static jlong user(JNIEnv *env, jclass c, jlong id) {
    if (id == 0) return own_user(env, c);
    if (READ(generation) == STOPPED) restore_if_passed(env, c);
    jlong nanos = answers_for_others && READ(generation) != STOPPED ? read_user_time(env, id) : USE_STOCK;
    int is_jvm = nanos == USE_STOCK;
    return other_user(env, id, is_jvm ? stock_user(env, c, id) : nanos, is_jvm);
}

// Corrects the times of many threads. All entries with the caller's own id get the same value. For a virtual thread,
// the JVM has stored -1 there.
static void correct(JNIEnv *env, jclass c, jlongArray ids, jlongArray into, int is_user, int is_jvm) {
    enum { CHUNK = 64 };
    if ((*env)->ExceptionCheck(env)) return;
    int is_virtual;
    jlong own_id = current_thread_id(env, &is_virtual), own = -1;
    int is_own_known = is_virtual && !READ(answers_virtual);
    jsize length = (*env)->GetArrayLength(env, ids);
    for (jsize start = 0; start < length; start += CHUNK) {
        jlong id[CHUNK], nanos[CHUNK];
        jsize n = length - start < CHUNK ? length - start : CHUNK;
        (*env)->GetLongArrayRegion(env, ids, start, n, id);
        (*env)->GetLongArrayRegion(env, into, start, n, nanos);
        for (jsize i = 0; i < n; i++) {
            if (id[i] != own_id) {
                nanos[i] = is_user ? other_user(env, id[i], nanos[i], is_jvm) : other_cpu(id[i], nanos[i]);
                continue;
            }
            if (!is_own_known) own = is_user ? own_user(env, c) : own_cpu(env, c);
            is_own_known = 1;
            nanos[i] = own;
        }
        (*env)->SetLongArrayRegion(env, into, start, n, nanos);
    }
}

static void cpus(JNIEnv *env, jclass c, jlongArray ids, jlongArray into) {
    if (READ(generation) == STOPPED) restore_if_passed(env, c);
    stock_cpus(env, c, ids, into);
    correct(env, c, ids, into, 0, 1);
}

static void users(JNIEnv *env, jclass c, jlongArray ids, jlongArray into) {
    if (READ(generation) == STOPPED) restore_if_passed(env, c);
    int is_ours = answers_for_others && READ(generation) != STOPPED && read_user_times(env, ids, into);
    if (!is_ours) stock_users(env, c, ids, into);
    correct(env, c, ids, into, 1, !is_ours);
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

void times_stop(void) {
    WRITE(changed_at, clock_functions->tickStamp());
    WRITE(cpu_is_plain, 0);
    WRITE(generation, STOPPED);
}

const char *times_take(JNIEnv *env, jclass thread_impl, int others, int jvm_may_have_answered) {
    while (!try_lock()) SYSCALL(__NR_sched_yield);
    answers_for_others = others;
    next_to_check = 0;
    WRITE(may_have_answered, jvm_may_have_answered);
    WRITE(changed_at, clock_functions->tickStamp());
    WRITE(generation, ++installations);
    WRITE(cpu_is_plain, !jvm_may_have_answered);
    int were_replaced = are_replaced;
    are_replaced = 1;
    int done = replace_all(env, thread_impl, cpu, user, cpus, users);
    if (!done) {
        times_stop();
        if (!were_replaced) restore(env, thread_impl);
    }
    unlock();
    return done ? 0 : "sun.management.ThreadImpl does not have the expected natives";
}

jlong times_now(JNIEnv *env, jclass thread_impl, const char *native) {
    jmethodID method = (*env)->GetStaticMethodID(env, thread_impl, native, "(J)J");
    // A floor of the thread that installs the agent would keep the natives replaced if this thread then sleeps.
    struct floors *own = self.floors;
    int32_t last = self.generation;
    self.is_check = 1;
    jlong nanos = method ? (*env)->CallStaticLongMethod(env, thread_impl, method, (jlong)0) : -1;
    self.is_check = 0;
    self.floors = own;
    self.generation = last;
    if (!(*env)->ExceptionCheck(env)) return nanos;
    (*env)->ExceptionClear(env);
    return -1;
}

jlong times_stock_cpu(JNIEnv *env, jlong id) { return stock_cpu ? stock_cpu(env, 0, id) : -1; }

jlong times_stock_user(JNIEnv *env, jlong id) { return stock_user ? stock_user(env, 0, id) : -1; }
