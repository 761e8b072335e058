// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.CountDownLatch;

/** Main class of child JVMs: calls every public read and checks the properties that all backends guarantee. */
final class ReadExerciser {
    private static final int ROUNDS = 300;
    private static final long NO_SUCH_PROCESS = (1 << 28) - 2;

    private ReadExerciser() {}

    public static void main(String[] arguments) throws Exception {
        boolean isNative = TaskClock.status().backend() != Backend.MXBEAN;
        ThreadClock unstarted = ThreadClock.of(new Thread(() -> {}));
        for (int round = 0; round < ROUNDS; round++) {
            burnCpu();
            checkOwnThread();
            checkOtherThreads(isNative, unstarted);
            checkProcess(isNative);
            checkKernelReaders(isNative);
            checkSnapshot(isNative);
            checkView();
        }
        checkVirtualThread();
        System.out.println("all reads passed on " + TaskClock.status().backend());
    }

    private static void checkOwnThread() {
        long cpu = TaskClock.cpuNanos();
        long user = TaskClock.userNanos();
        long system = TaskClock.systemNanos();
        CpuTime now = TaskClock.now();
        check(cpu > 0 && now.cpuNanos() >= cpu, "cpu " + cpu + " then " + now);
        check(user >= 0 && now.userNanos() >= user, "user " + user + " then " + now);
        check(system >= 0 && now.systemNanos() >= system, "system " + system + " then " + now);
        checkConsistent(now);
        long[] read = new long[3];
        TaskClock.read(read);
        checkConsistent(new CpuTime(read[0], read[1], read[2]));
        CpuTime spent = new CpuTime(read[0], read[1], read[2]).minus(now);
        checkConsistent(spent);
        check(
                !CpuTime.UNKNOWN.minus(now).isKnown()
                        && !now.minus(CpuTime.UNKNOWN).isKnown(),
                "minus unknown");
    }

    private static void checkOtherThreads(boolean isNative, ThreadClock unstarted) throws InterruptedException {
        check(unstarted.cpuNanos() == -1 && !unstarted.now().isKnown() && unstarted.tid() == -1, "not started");
        ThreadClock self = ThreadClock.of(Thread.currentThread());
        checkConsistent(self.now());
        check(self.cpuNanos() >= self.now().minus(self.now()).cpuNanos(), "self");
        check(self.tid() == (isNative ? KernelReaders.tid() : -1), "tid " + self.tid());

        CountDownLatch ready = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            burnCpu();
            ready.countDown();
            await(end);
        });
        thread.setDaemon(true); // so that the JVM exits if a check fails
        thread.start();
        ready.await();
        ThreadClock other = ThreadClock.of(thread);
        checkConsistent(other.now());
        check(other.cpuNanos() > 0 && other.userNanos() >= 0 && other.systemNanos() >= 0, "other");
        ThreadClock byTid = isNative ? ThreadClock.ofTid(other.tid()) : ThreadClock.ofTid(1);
        if (isNative) checkConsistent(byTid.now());
        else check(other.tid() == -1 && !byTid.now().isKnown(), "by tid on mxbean");
        end.countDown();
        thread.join();
        check(other.cpuNanos() == -1 && !other.now().isKnown() && other.tid() == -1, "dead");
    }

    private static void checkProcess(boolean isNative) {
        for (ProcessClock clock : new ProcessClock[] {
            ProcessClock.current(), ProcessClock.of(ProcessHandle.current().pid())
        }) {
            check(clock.cpuNanos() > 0, "process");
            CpuTime now = clock.now();
            if (isNative) checkConsistent(now);
            else check(!now.isKnown() && clock.userNanos() == -1 && clock.systemNanos() == -1, "process on mxbean");
        }
        ProcessClock missing = ProcessClock.of(NO_SUCH_PROCESS);
        check(missing.cpuNanos() == -1 && !missing.now().isKnown(), "no such process");
    }

    private static void checkKernelReaders(boolean isNative) {
        int tid = KernelReaders.tid();
        long[] userSystem = new long[2];
        check(KernelReaders.rusage(userSystem) == Library.isLoaded(), "rusage");
        check(tid > 0 == Library.isLoaded(), "tid " + tid);
        check(KernelReaders.userNanosByConstantId() >= 0 == Library.isLoaded(), "by constant id");
        ClockId own = ClockId.thread(0, ClockId.Kind.SCHED);
        check(KernelReaders.timeSystemCalls(own, 10) > 0 == Library.isLoaded(), "time of system calls");
        if (isNative) {
            check(KernelReaders.userNanosByText(tid) >= 0 && KernelReaders.userNanosByOwnId(tid) >= 0, "by tid");
            check(ProcStat.ofThread(tid).id() == tid, "stat");
            check(own.nanos() > 0, "by clock id");
        }
        check(ClockId.decode(own.encode()).equals(own), own.toString());
    }

    /** Uses arrays of length 0 and of lengths below and above the number of threads. */
    private static void checkSnapshot(boolean isNative) {
        ThreadSnapshot snapshot = new ThreadSnapshot();
        for (int length : new int[] {0, 1, 5, 1000, 3}) {
            int[] tids = new int[length];
            long[][] times = new long[3][length];
            int count = snapshot.read(tids, times[0], times[1], times[2]);
            check(isNative ? count > 1 : count == -1, "snapshot of " + count);
            for (int i = 0; i < Math.min(count, length); i++) {
                check(tids[i] > 0, "tid " + tids[i]);
                checkConsistent(new CpuTime(times[0][i], times[1][i], times[2][i]));
            }
        }
    }

    private static void checkView() {
        var view = TaskClock.threadMXBean();
        long id = ownId();
        check(view.getCurrentThreadCpuTime() > 0 && view.getThreadCpuTime(id) > 0, "view's cpu");
        check(view.getCurrentThreadUserTime() >= 0 && view.getThreadUserTime(id) >= 0, "view's user");
        check(view.getThreadCpuTime(new long[] {id})[0] > 0 && view.getAllThreadIds().length > 0, "view's arrays");
        check(view.getThreadUserTime(new long[] {id})[0] >= 0, "view's arrays");
    }

    @SuppressWarnings("deprecation") // threadId() requires JDK 19
    private static long ownId() {
        return Thread.currentThread().getId();
    }

    private static void checkVirtualThread() throws Exception {
        if (!VirtualThreadRunner.isSupported()) return;
        VirtualThreadRunner.run(() -> {
            check(
                    TaskClock.cpuNanos() == -1 && TaskClock.userNanos() == -1 && TaskClock.systemNanos() == -1,
                    "virtual");
            check(!TaskClock.now().isKnown(), "virtual");
            check(!ThreadClock.of(Thread.currentThread()).now().isKnown(), "virtual");
            checkProcess(TaskClock.isNative());
            checkSnapshot(TaskClock.isNative());
        });
    }

    private static void checkConsistent(CpuTime time) {
        check(
                time.isKnown() && time.cpuNanos() >= 0 && time.userNanos() >= 0 && time.systemNanos() >= 0,
                "negative part: " + time);
        check(time.userNanos() + time.systemNanos() == time.cpuNanos(), "wrong sum: " + time);
    }

    private static void check(boolean condition, String what) {
        if (!condition) throw new AssertionError(what);
    }

    private static void burnCpu() {
        double sum = 0;
        for (int i = 1; i < 20_000; i++) sum += Math.sqrt(i);
        check(sum > 0, "sum");
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
