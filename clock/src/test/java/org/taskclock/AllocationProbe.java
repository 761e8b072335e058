// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;

/** Main class of child JVMs: prints one line with the bytes that each public read allocates after compilation. */
final class AllocationProbe {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int CALLS = 2_000;
    /** The time limit for compilation. A read that still allocates after that allocates every time. */
    private static final long COMPILATION_LIMIT_NANOS = 10_000_000_000L;

    private static final long ALLOCATING_READ_LIMIT_NANOS = 1_000_000_000L;

    /** A read that allocates, because it iterates over a map twice. */
    static final String ACCOUNT_READ = "CpuAccount.cpuNanos";

    private AllocationProbe() {}

    public static void main(String[] arguments) throws InterruptedException {
        TaskClock.status();
        CountDownLatch end = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        other.start();
        Map<String, LongSupplier> reads = new LinkedHashMap<>();
        addOwnReads(reads);
        addReadsOf(other, reads);
        if (TaskClock.isNative()) addNativeReads(ThreadClock.of(other).tid(), reads);
        addAccounts(reads);
        addView(reads);
        reads.forEach((name, read) -> print(name, read, BEAN::getCurrentThreadAllocatedBytes));
        if (VirtualThreadRunner.isSupported()) VirtualThreadRunner.run(() -> readOnVirtualThread(other));
        end.countDown();
    }

    private static void addOwnReads(Map<String, LongSupplier> reads) {
        long[] into = new long[3];
        reads.put("TaskClock.cpuNanos", TaskClock::cpuNanos);
        reads.put("TaskClock.userNanos", TaskClock::userNanos);
        reads.put("TaskClock.systemNanos", TaskClock::systemNanos);
        reads.put("TaskClock.now", () -> TaskClock.now().userNanos());
        reads.put("TaskClock.read", () -> {
            TaskClock.read(into);
            return into[0];
        });
        reads.put("CpuTime.minus", () -> {
            CpuTime start = TaskClock.now();
            return TaskClock.now().minus(start).cpuNanos();
        });
    }

    private static void addReadsOf(Thread thread, Map<String, LongSupplier> reads) {
        ThreadClock self = ThreadClock.of(Thread.currentThread());
        reads.put("ThreadClock.of(self).cpuNanos", self::cpuNanos);
        reads.put("ThreadClock.of(self).now", () -> self.now().userNanos());
        ThreadClock other = ThreadClock.of(thread);
        reads.put("ThreadClock.of(other).cpuNanos", other::cpuNanos);
        reads.put("ThreadClock.of(other).userNanos", other::userNanos);
        reads.put("ThreadClock.of(other).systemNanos", other::systemNanos);
        reads.put("ThreadClock.of(other).now", () -> other.now().userNanos());
        reads.put("ThreadClock.of(other).tid", other::tid);
    }

    private static void addNativeReads(int tid, Map<String, LongSupplier> reads) {
        ThreadClock byTid = ThreadClock.ofTid(tid);
        reads.put("ThreadClock.ofTid.cpuNanos", byTid::cpuNanos);
        reads.put("ThreadClock.ofTid.now", () -> byTid.now().userNanos());
        ProcessClock process = ProcessClock.current();
        reads.put("ProcessClock.cpuNanos", process::cpuNanos);
        reads.put("ProcessClock.userNanos", process::userNanos);
        reads.put("ProcessClock.systemNanos", process::systemNanos);
        reads.put("ProcessClock.now", () -> process.now().userNanos());
        ThreadSnapshot snapshot = new ThreadSnapshot();
        int[] tids = new int[100];
        long[][] times = new long[3][100];
        reads.put("ThreadSnapshot.read", () -> snapshot.read(tids, times[0], times[1], times[2]));

        long[] userSystem = new long[2];
        ClockId id = ClockId.thread(0, ClockId.Kind.SCHED);
        reads.put("KernelReaders.tid", KernelReaders::tid);
        reads.put("KernelReaders.userNanosByOwnId", () -> KernelReaders.userNanosByOwnId(tid));
        reads.put("KernelReaders.userNanosByConstantId", KernelReaders::userNanosByConstantId);
        reads.put("KernelReaders.rusage", () -> KernelReaders.rusage(userSystem) ? userSystem[0] : 0);
        reads.put("KernelReaders.timeSystemCalls", () -> KernelReaders.timeSystemCalls(id, 1));
        reads.put("ClockId.nanos", id::nanos);
    }

    @SuppressWarnings("try") // the sections only have to be open
    private static void addAccounts(Map<String, LongSupplier> reads) {
        CpuAccount account = CpuAccount.create();
        reads.put("CpuAccount.enter", () -> {
            try (CpuSection section = account.enter()) {
                return 0;
            }
        });
        reads.put("CpuAccount.enter inside", () -> {
            try (CpuSection outer = account.enter();
                    CpuSection inner = account.enter()) {
                return 0;
            }
        });
        reads.put(ACCOUNT_READ, account::cpuNanos);
        reads.put("CpuAccount.isOverLimit", () -> account.isOverLimit() ? 1 : 0);
    }

    private static void addView(Map<String, LongSupplier> reads) {
        ThreadMXBean view = TaskClock.threadMXBean();
        @SuppressWarnings("deprecation") // threadId() requires JDK 19
        long own = Thread.currentThread().getId();
        reads.put("view.getCurrentThreadCpuTime", view::getCurrentThreadCpuTime);
        reads.put("view.getCurrentThreadUserTime", view::getCurrentThreadUserTime);
        reads.put("view.getThreadCpuTime", () -> view.getThreadCpuTime(own));
        reads.put("view.getThreadUserTime", () -> view.getThreadUserTime(own));
    }

    /** The JVM counts allocation on the carrier. The test's scheduler options allow only one carrier. */
    private static void readOnVirtualThread(Thread other) {
        long carrier = -1;
        for (ThreadInfo thread : BEAN.getThreadInfo(BEAN.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("ForkJoinPool-1-worker-"))
                carrier = thread.getThreadId();
        }
        if (carrier < 0) throw new AssertionError("no carrier thread found");
        long id = carrier;
        Map<String, LongSupplier> reads = new LinkedHashMap<>();
        addOwnReads(reads);
        addReadsOf(other, reads);
        reads.forEach((name, read) -> print("virtual: " + name, read, () -> BEAN.getThreadAllocatedBytes(id)));
    }

    /** Returns whether this read calls a method of ThreadMXBean that takes a thread id. */
    static boolean callsThreadMXBean(String name, boolean isNative) {
        return !isNative && (name.contains("ThreadClock.of(") || name.contains("view.getThread"));
    }

    private static void print(String name, LongSupplier read, LongSupplier allocated) {
        boolean mayAllocate = name.equals(ACCOUNT_READ) || callsThreadMXBean(name, TaskClock.isNative());
        long limit = mayAllocate ? ALLOCATING_READ_LIMIT_NANOS : COMPILATION_LIMIT_NANOS;
        System.out.println(minBytesPerCall(read, allocated, limit) + " " + name);
    }

    /** Returns the bytes per call, rounded down because reading the counter may itself allocate. */
    private static long minBytesPerCall(LongSupplier read, LongSupplier allocated, long limitNanos) {
        long end = System.nanoTime() + limitNanos;
        long min = Long.MAX_VALUE;
        while (min > 0 && System.nanoTime() < end) {
            long before = allocated.getAsLong();
            long sum = 0;
            for (int i = 0; i < CALLS; i++) sum += read.getAsLong();
            CpuLoad.sink = sum;
            min = Math.min(min, (allocated.getAsLong() - before) / CALLS);
        }
        return min;
    }
}
