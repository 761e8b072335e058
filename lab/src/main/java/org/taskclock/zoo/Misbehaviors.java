// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import java.util.List;

/** All programs. Those that are held out come last, before those that only look like others. */
public final class Misbehaviors {
    private static final String HTTP = "http-exec-";
    private static final String GC = "gc";
    private static final String SAFEPOINTS = "safepoints";
    private static final String SYSTEM = "system-heavy";
    private static final String JIT = "jit";
    private static final String DOMINATES = "pool-dominates";

    public static final List<Misbehavior> ALL = List.of(
            new Misbehavior("busy-wait", "a thread polls a field without pause", CpuPrograms::busyWait)
                    .in("event-loop", "awaitEvent")
                    .found("busy-wait")
                    .called("busy.?wait|spin"),
            new Misbehavior("yield-storm", "a thread waits with Thread.yield", CpuPrograms::yieldStorm)
                    .in("consumer", "Thread.yield|awaitMessage")
                    .found("yield-storm")
                    .causing(SYSTEM)
                    .called("yield"),
            new Misbehavior("timer-storm", "a thread sleeps for 1 ns, again and again", CpuPrograms::timerStorm)
                    .in("poller", "pollDevice|parkNanos")
                    .found("timer-storm")
                    .causing(SYSTEM)
                    .called("timer|wakes? up"),
            new Misbehavior("scheduler", "a task is scheduled with a period of 1 ns", CpuPrograms::scheduler)
                    .in("scheduler-1", "ScheduledFutureTask|ScheduledThreadPoolExecutor|DelayedWorkQueue")
                    .found("busy-wait")
                    .called("schedul"),
            new Misbehavior("regex", "a regular expression backtracks in one request", CpuPrograms::regex)
                    .in(HTTP + "3", "regex.Pattern|isAddress")
                    .found("regex-backtracking")
                    .called("regex|regular expression|backtrack"),
            new Misbehavior("hash-map", "a cycle in a hash table holds two threads", CpuPrograms::hashMap)
                    .in("session-", "Sessions.find|findSession")
                    .found("busy-wait")
                    .called("cycle|endless|infinite"),
            new Misbehavior("exceptions", "each parse throws from a deep stack", CpuPrograms::exceptions)
                    .in("parser-1", "fillInStackTrace|parseNested")
                    .found("exception-storm")
                    .called("exception|throw"),
            new Misbehavior("system-calls", "a thread reads small files all the time", CpuPrograms::systemCalls)
                    .in("file-scanner", "readStatus|FileInputStream|FileDispatcher|UnixNativeDispatcher|sys_")
                    .found(SYSTEM)
                    .called("file|system call|i/o"),
            new Misbehavior("compilation", "generated rules are compiled all the time", MemoryPrograms::compilation)
                    .in("rules-engine|Compiler", "evaluateRules|Compiler?::|CompileBroker")
                    .found(JIT)
                    .causing(GC, SAFEPOINTS)
                    .called("compil|code cache"),
            new Misbehavior("heap-full", "a cache fills the heap", MemoryPrograms::heapFull)
                    .in("cache-loader|GC Thread|G1", "loadCache|G1\\w+::")
                    .found(GC)
                    .causing(SAFEPOINTS)
                    .called("heap|garbage|\\bgc\\b|allocat")
                    .with("-Xmx64m"),
            new Misbehavior("string-concat", "a report is concatenated line by line", MemoryPrograms::concatenate)
                    .in("report-writer", "buildReport|StringConcat|String.concat|newArray")
                    .found(GC)
                    .causing(SAFEPOINTS, SYSTEM) // the kernel clears new pages
                    .called("allocat|garbage|string"),
            new Misbehavior("direct-memory", "each upload allocates and clears a direct buffer", MemoryPrograms::direct)
                    .in("uploader", "setMemory|DirectByteBuffer|Bits.reserve|receiveUpload")
                    .causing(SYSTEM, GC, SAFEPOINTS)
                    .called("direct|native memory")
                    .with("-XX:MaxDirectMemorySize=256m"),
            new Misbehavior("log-lock", "six threads wait for the lock of a log handler", ThreadPrograms::logLock)
                    .in(HTTP + "[1-6#]", "SlowHandler")
                    .found("lock-convoy")
                    .called("lock|contention|blocked"),
            new Misbehavior("thread-churn", "each task starts a thread", ThreadPrograms::threadChurn)
                    .in("dispatcher|task-", "ThreadPrograms.dispatch|Thread.start0?|pthread_create|clone")
                    .found("thread-churn")
                    .causing(SYSTEM, "timer-storm") // the dispatcher sleeps for a millisecond each time
                    .called("thread.?(start|creat|churn)|short.?lived"),
            new Misbehavior("safepoints", "a watchdog dumps all threads without pause", ThreadPrograms::safepoints)
                    .in("watchdog", "dumpAllThreads|dumpThreads|inspect")
                    .found(SAFEPOINTS)
                    .causing(SYSTEM, GC)
                    .called("safepoint|vm operation|thread dump"),
            new Misbehavior("carrier-pinned", "a class initializer sleeps in a virtual thread", VirtualPrograms::pinned)
                    .in("request-1|ForkJoinPool-1-", "Configuration.<clinit>|fetch")
                    .found("carrier-pinned")
                    .causing("carrier-starvation")
                    .called("pinned")
                    .usingVirtualThreads(),
            new Misbehavior("throttled", "a batch job exceeds the CPU limit of the container", SharingPrograms::batch)
                    .in("batch-", "runBatch")
                    .found("throttled")
                    .called("throttl|quota|cpu limit")
                    .limited(0.5),
            new Misbehavior("account-dominates", "one customer's report delays the others", SharingPrograms::tenants)
                    .in("http-globex|globex", "runReport")
                    .found("account-dominates")
                    .causing(DOMINATES)
                    .called("tenant")
                    .usingAccounts(),
            new Misbehavior("pool-dominates", "a batch job delays requests", SharingPrograms::batch)
                    .in("batch-", "runBatch")
                    .found(DOMINATES)
                    .called("dominat"),
            new Misbehavior("cpu-contention", "other processes use the processors", SharingPrograms::neighbor)
                    .in("renderer-", "(?!)")
                    .found("cpu-contention")
                    .causing(DOMINATES)
                    .called("other processes|steal"),
            new Misbehavior("carrier-starvation", "long requests keep all carriers busy", VirtualPrograms::starvation)
                    .in("request-|ForkJoinPool-1-", "searchCatalog")
                    .found("carrier-starvation")
                    .causing(DOMINATES)
                    .called("starv|queued")
                    .usingVirtualThreads(),
            new Misbehavior("scheduling-heavy", "virtual threads pass on single values", VirtualPrograms::handOver)
                    .in("parser|printer|ForkJoinPool-1-", "VirtualThread.(unmount|yieldContinuation|runContinuation)")
                    .found("scheduling-heavy")
                    .causing(SYSTEM, DOMINATES)
                    .called("scheduling|context switch")
                    .usingVirtualThreads(),
            new Misbehavior("thread-leak", "each connection leaves a thread behind", ThreadPrograms::threadLeak)
                    .in("connection-", "acceptConnection")
                    .found("thread-leak")
                    .called("thread.?leak|number of threads|thread count")
                    .heldOut(),
            new Misbehavior("pool-imbalance", "one of four consumers gets all messages", ThreadPrograms::imbalance)
                    .in("consumer-2", "ThreadPrograms.consume")
                    .found("pool-imbalance")
                    .called("imbalance|uneven")
                    .heldOut(),
            new Misbehavior("carrier-monopolized", "a virtual thread never blocks", VirtualPrograms::monopolized)
                    .in("report-1|ForkJoinPool-1-", "computeReport|Threads.compute")
                    .found("carrier-monopolized")
                    .causing("carrier-starvation")
                    .called("monopol|never blocks")
                    .usingVirtualThreads()
                    .heldOut(),
            new Misbehavior("class-loading", "each request loads its classes anew", MemoryPrograms::classLoading)
                    .in("plugin-loader", "loadPlugin|defineClass|ClassLoader")
                    .causing(GC, JIT, SAFEPOINTS)
                    .called("class.?load|metaspace")
                    .heldOut(),
            new Misbehavior("common-pool", "calls that block fill the common pool", ThreadPrograms::commonPool)
                    .in("commonPool", "callBackend")
                    .found("common-pool-blocked")
                    .called("common.?pool|fork.?join")
                    .with("-Djava.util.concurrent.ForkJoinPool.common.parallelism=4")
                    .heldOut(),
            new Misbehavior("many-matches", "a thread matches many short texts", CpuPrograms::manyMatches)
                    .notFound("regex-backtracking", "busy-wait"),
            new Misbehavior("few-exceptions", "one parse of a hundred throws", CpuPrograms::fewExceptions)
                    .notFound("exception-storm"),
            new Misbehavior("cpu-limit", "a batch job pauses, and stays below the limit", SharingPrograms::slowBatch)
                    .notFound("throttled")
                    .limited(0.5),
            new Misbehavior("one-tenant", "the only customer runs a report", SharingPrograms::oneTenant)
                    .notFound("account-dominates")
                    .causing(DOMINATES)
                    .usingAccounts(),
            new Misbehavior("two-batches", "two batch jobs use the same", SharingPrograms::twoBatches)
                    .notFound(DOMINATES, "pool-imbalance"),
            new Misbehavior("own-threads", "many threads of the program use the processors", SharingPrograms::batch)
                    .notFound("cpu-contention")
                    .causing(DOMINATES),
            new Misbehavior("virtual-waiting", "many virtual threads wait for a server", VirtualPrograms::waiting)
                    .notFound("carrier-starvation", "carrier-pinned")
                    .usingVirtualThreads(),
            new Misbehavior("virtual-batches", "virtual threads pass on what took a while", VirtualPrograms::batches)
                    .notFound("scheduling-heavy")
                    .causing(DOMINATES)
                    .usingVirtualThreads(),
            new Misbehavior("pool-fills", "a pool fills up to its size", ThreadPrograms::poolFills)
                    .notFound("thread-leak", "thread-churn"),
            new Misbehavior("common-pool-busy", "the common pool computes", ThreadPrograms::busyCommonPool)
                    .notFound("common-pool-blocked")
                    .causing(DOMINATES)
                    .with("-Djava.util.concurrent.ForkJoinPool.common.parallelism=4"));

    private Misbehaviors() {}

    /** Returns the program with a name. Throws if there is none. */
    public static Misbehavior of(String name) {
        for (Misbehavior each : ALL) if (each.name().equals(name)) return each;
        throw new IllegalArgumentException(name);
    }
}
