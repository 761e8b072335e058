// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

// The native method behind Thread.yield for platform threads, and the yield counts of all threads. Virtual threads
// yield in Java code, which reports their yields. They are counted in the record of the carrier.

#include "agent.h"
#include "yield_cost.h"

#include <linux/mman.h>

enum { PASS, COUNT, OFF };  // as in YieldControl.Mode

// One thread's counts. Only the thread itself writes them. YieldCounts.java reads them in this order.
struct yielder {
    int64_t tid;             // 0: free; ENDED: another thread has the id by now
    int64_t yields;          // of the platform thread itself
    int64_t virtual_yields;  // of virtual threads on it
    int64_t timed;           // own yields that were measured
    int64_t nanos;           // CPU time of own yields, extrapolated from the measured ones (yield_cost.h)
    int64_t switched;        // measured yields at which the thread was switched out
    int64_t sampled;         // yields + virtual_yields at the last sample
    int64_t interval;        // yields between samples
    // The thread's resource usage between its first yield and the last sample.
    int64_t user, system, voluntary, involuntary;
};

_Static_assert(sizeof(struct yielder) == YIELD_FIELDS * sizeof(int64_t), "YIELD_FIELDS");

enum { MAX_RECORDS = 65536, TIMING_INTERVAL = 1024, ENDED = -1 };
enum { MAX_INTERVAL = 1 << 20, STACKS_PER_TICK = 2 };
static const int64_t MIN_SPACING = 20000000, MAX_SPACING = 80000000;  // ns between two samples on a thread

typedef void yield_native(JNIEnv *, jclass);

static yield_native *stock_yield;
static jclass thread_class;
static const char *native_name;
static int mode;
static int32_t period;           // incremented whenever counting begins
static struct yielder *records;  // MAX_RECORDS of them
static int32_t used;             // records that have ever been in use
static struct yielder overflow;  // shared by threads without a free record, which loses some of their counts

// struct rusage, without names for the fields that are not read here.
struct usage {
    int64_t user_seconds, user_micros, system_seconds, system_micros, others[12], voluntary, involuntary;
};

static struct usage usage_now(void) {
    enum { THREAD_ONLY = 1 };
    struct usage u;
    if (SYSCALL(__NR_getrusage, THREAD_ONLY, &u) != 0) u = (struct usage){0};
    return u;
}

static int64_t nanos(int64_t seconds, int64_t micros) { return seconds * NANOS_PER_SECOND + micros * 1000; }

// State of the calling thread that no other thread reads.
static __thread struct {
    struct yielder *record;
    int64_t next_sample, sampled_at;
    struct usage first;
    struct yield_cost cost;
    int in_hook;
} self;

static int64_t cpu_nanos(void) { return clock_functions->clockNanos((int32_t)OWN_SCHED); }

// Marks records that earlier threads with the calling thread's tid left behind. The kernel reuses thread ids.
static void end_records_of(int64_t tid) {
    int32_t n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
    for (int32_t i = 0; i < n; i++) {
        int64_t same = tid;
        if (records[i].tid == tid)
            __atomic_compare_exchange_n(&records[i].tid, &same, ENDED, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}

static struct yielder *free_record(int64_t tid) {
    end_records_of(tid);
    for (int32_t i = 0; i < MAX_RECORDS; i++) {
        int64_t free = 0;
        if (records[i].tid != 0) continue;
        if (!__atomic_compare_exchange_n(&records[i].tid, &free, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
        int32_t n = READ(used);
        while (n <= i && !__atomic_compare_exchange_n(&used, &n, i + 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            continue;
        return &records[i];
    }
    return 0;
}

static struct yielder *own_record(JNIEnv *env) {
    if (self.record) return self.record;
    struct yielder *record = free_record(SYSCALL(__NR_gettid));
    self.record = record ? record : &overflow;
    self.first = usage_now();
    self.in_hook = 1;
    report_first_yield(env, record ? (jint)(record - records) : -1);
    self.in_hook = 0;
    return self.record;
}

static void add(int64_t *to, int64_t n) { WRITE(*to, *to + n); }

// Limits the stack walks of all threads together to STACKS_PER_TICK per kernel tick.
static int may_walk(int64_t tick) {
    static int64_t last_tick;
    static int32_t walked;
    int64_t last = READ(last_tick);
    if (last != tick && __atomic_compare_exchange_n(&last_tick, &last, tick, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        WRITE(walked, 0);
    if (READ(walked) >= STACKS_PER_TICK) return 0;
    return __atomic_fetch_add(&walked, 1, __ATOMIC_RELAXED) < STACKS_PER_TICK;
}

// Returns the yield count at which to take the next sample. The intervals vary: if they were all equal, a program that
// alternates between call sites might always be sampled at the same one.
static int64_t next_after(int64_t yields, int64_t interval) {
    uint64_t mixed = (uint64_t)yields * 0x9e3779b97f4a7c15u >> 32;
    return yields + 1 + interval / 2 + (int64_t)(mixed % (uint64_t)interval);
}

// Takes a sample, which includes a stack walk. A thread takes about twenty samples a second, however often it yields.
static void sample(JNIEnv *env, struct yielder *record, int64_t yields) {
    int64_t now = clock_functions->tickStamp(), since = now - self.sampled_at;
    // Read once: other threads write to the shared record.
    int64_t interval = READ(record->interval);
    if (since < MIN_SPACING && interval < MAX_INTERVAL) interval *= 2;
    if (since > MAX_SPACING) interval /= 2;
    if (interval < 1) interval = 1;
    WRITE(record->interval, interval);
    self.next_sample = next_after(yields, interval);
    if (!may_walk(now)) return;  // the next sample will represent these yields, too
    int64_t weight = yields - record->sampled;
    record->sampled = yields;
    self.sampled_at = now;
    struct usage u = usage_now(), *first = &self.first;
    WRITE(record->user, nanos(u.user_seconds - first->user_seconds, u.user_micros - first->user_micros));
    WRITE(record->system, nanos(u.system_seconds - first->system_seconds, u.system_micros - first->system_micros));
    WRITE(record->voluntary, u.voluntary - first->voluntary);
    WRITE(record->involuntary, u.involuntary - first->involuntary);
    self.in_hook = 1;
    report_yield_sample(env, weight);
    self.in_hook = 0;
}

static void count(JNIEnv *env, struct yielder *record, int64_t *counter) {
    add(counter, 1);
    int64_t yields = record->yields + record->virtual_yields;
    if (yields >= self.next_sample) sample(env, record, yields);
}

// Measures one yield in TIMING_INTERVAL, and more of a thread's first ones, because many threads yield only rarely.
static int is_timed(int64_t yields) {
    return yields > TIMING_INTERVAL ? yields % TIMING_INTERVAL == 1 : (yields & (yields - 1)) == 0;
}

static void yield(JNIEnv *env, jclass c) {
    int current_mode = READ(mode);
    if (current_mode == OFF) return;
    if (current_mode == PASS || self.in_hook) {
        stock_yield(env, c);
        return;
    }
    struct yielder *record = own_record(env);
    count(env, record, &record->yields);
    if (!is_timed(record->yields)) {
        stock_yield(env, c);
        return;
    }
    int64_t before = usage_now().involuntary, start = cpu_nanos();
    stock_yield(env, c);
    add(&record->nanos, yield_cost(&self.cost, record->yields, start, cpu_nanos(), READ(period)));
    add(&record->switched, usage_now().involuntary != before);
    add(&record->timed, 1);
}

void yield_count_virtual(JNIEnv *env) {
    if (self.in_hook) return;
    struct yielder *record = own_record(env);
    count(env, record, &record->virtual_yields);
}

int32_t yield_records(int64_t *into, int32_t capacity) {
    int32_t n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
    for (int32_t i = 0; i < n && i < capacity; i++)
        for (int k = 0; k < YIELD_FIELDS; k++)
            into[i * YIELD_FIELDS + k] = READ(((int64_t *)&records[i])[k]);
    return n;
}

int yield_free(int32_t i, int64_t *into) {
    if (i < 0 || i >= MAX_RECORDS) return 0;
    int64_t tid = __atomic_load_n(&records[i].tid, __ATOMIC_ACQUIRE);
    if (tid == 0 || (tid != ENDED && !thread_is_gone((int32_t)tid))) return 0;
    // Copied only after this check, because the thread may have yielded until it ended.
    for (int k = 0; k < YIELD_FIELDS; k++) into[k] = READ(((int64_t *)&records[i])[k]);
    for (int k = 1; k < YIELD_FIELDS; k++) WRITE(((int64_t *)&records[i])[k], 0);
    __atomic_store_n(&records[i].tid, 0, __ATOMIC_RELEASE);
    return 1;
}

void yield_set_mode(int new_mode) {
    if (new_mode == COUNT && READ(mode) != COUNT) WRITE(period, READ(period) + 1);
    WRITE(mode, new_mode);
}

// The native method is Thread.yield in JDK 17 and Thread.yield0 in later JDKs. Both call JVM_Yield.
const char *yield_prepare(JNIEnv *env) {
    stock_yield = (yield_native *)symbol_in("libjvm.so", "JVM_Yield");
    if (!stock_yield) return "libjvm has no JVM_Yield";
    jclass found = (*env)->FindClass(env, "java/lang/Thread");
    if (!found) return "class java.lang.Thread not found";
    native_name = "yield0";
    if (!(*env)->GetStaticMethodID(env, found, native_name, "()V")) {
        (*env)->ExceptionClear(env);
        native_name = "yield";
    }
    long memory = SYSCALL(__NR_mmap, 0, MAX_RECORDS * sizeof *records, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (failed(memory)) return "no memory for the yield counts";
    records = (struct yielder *)memory;
    thread_class = (*env)->NewGlobalRef(env, found);
    return 0;
}

static const char *set_native(JNIEnv *env, yield_native *function) {
    if (!thread_class) return "Thread.yield was not prepared";
    int done = replace_native(env, thread_class, native_name, "()V", (void *)function);
    return done ? 0 : "Thread.yield is not the expected native";
}

const char *yield_take(JNIEnv *env) { return set_native(env, yield); }

const char *yield_restore(JNIEnv *env) { return set_native(env, stock_yield); }
