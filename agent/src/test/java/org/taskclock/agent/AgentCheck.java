// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.taskclock.internal.JdkVersions;

/**
 * A program that checks each feature of the agent once. It needs only the JDK, so it runs in any environment. The agent
 * must run with {@code yield=count}. The argument {@link #ATTACHED} says that it was attached to the running program.
 * The system property {@code test.expectedBackend} names the expected backend. On success the program prints nothing; a
 * failure ends the JVM with exit code 1.
 */
@SuppressWarnings("ThreadPriorityCheck") // yields are under test
final class AgentCheck {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long REGISTRATION_TIMEOUT_NANOS = 5_000_000_000L;
    private static final long VIRTUAL_TIMEOUT_NANOS = 60_000_000_000L;
    private static final int READINGS = 20_000;
    private static final int YIELDS = 3_000;
    private static final int THREADS = 4;

    static final String ATTACHED = "attached";

    private static volatile Object unusedSink;

    private AgentCheck() {}

    public static void main(String[] args) throws Exception {
        String state = System.getProperty("taskclock.agent", "no agent");
        check(state.contains("threadmxbean=on,yield=count") && !state.contains("unavailable"), state);
        String backend = System.getProperty("test.expectedBackend");
        check(
                backend == null || backend.equals(bean().getBackend()),
                "backend " + bean().getBackend() + ", expected " + backend);
        awaitDeferredFeatures();
        // JDK 21 to 24 return the CPU time instead, which an attached agent does not correct.
        int feature = Runtime.version().feature();
        checkOwnTimes(args.length == 0
                || !args[0].equals(ATTACHED)
                || feature < JdkVersions.OWN_USER_TIME_WRONG
                || feature >= JdkVersions.OWN_USER_TIME_RIGHT);
        checkOtherThreads();
        checkYields();
        if (Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS) checkAccounts();
    }

    /** Returns the bean. Waits for it, because it may be registered only after the program has started. */
    static TaskClockMXBean bean() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName(TaskClockMXBean.NAME);
        long end = System.nanoTime() + REGISTRATION_TIMEOUT_NANOS;
        while (!server.isRegistered(name)) {
            check(System.nanoTime() - end < 0, name + " is not registered");
            Thread.sleep(5);
        }
        return JMX.newMXBeanProxy(server, name, TaskClockMXBean.class);
    }

    /** Waits until the features that do not delay the start of the program are installed. */
    static void awaitDeferredFeatures() throws InterruptedException {
        long end = System.nanoTime() + REGISTRATION_TIMEOUT_NANOS;
        while (!System.getProperty("taskclock.agent").contains(",backend=")) {
            check(System.nanoTime() - end < 0, "the agent is not fully installed");
            Thread.sleep(5);
        }
    }

    private static void check(boolean condition, String message) {
        if (!condition) throw new AssertionError(message);
    }

    private static void checkOwnTimes(boolean isUserKnownById) {
        long id = Thread.currentThread().getId();
        long cpu = 0;
        long user = 0;
        for (int i = 0; i < READINGS; i++) {
            unusedSink = new byte[1_000];
            long lastCpu = cpu;
            long lastUser = user;
            boolean isById = i % 2 != 0 && isUserKnownById;
            user = isById ? BEAN.getThreadUserTime(id) : BEAN.getCurrentThreadUserTime();
            cpu = i % 2 == 0 ? BEAN.getThreadCpuTime(id) : BEAN.getCurrentThreadCpuTime();
            check(
                    cpu >= lastCpu && user >= lastUser,
                    "decreased: cpu " + lastCpu + " to " + cpu + ", user " + lastUser + " to " + user);
            check(user <= cpu, "user " + user + " > cpu " + cpu);
        }
        check(user > 0, "no user time, cpu " + cpu);
    }

    private static void checkOtherThreads() throws InterruptedException {
        Thread busy = new Thread(AgentCheck::work, "busy");
        busy.start();
        busy.join(50);
        long[] ids = {busy.getId(), Thread.currentThread().getId()};
        long[] users = BEAN.getThreadUserTime(ids);
        long[] cpus = BEAN.getThreadCpuTime(ids);
        busy.interrupt();
        busy.join();
        // On later JDKs, this is the JVM's user time in ticks, which can exceed the CPU time.
        long tolerance = Runtime.version().feature() < JdkVersions.USER_TIME_IN_TICKS ? 0 : 100_000_000;
        check(users[0] >= 0 && users[0] <= cpus[0] + tolerance, "other thread: user " + users[0] + ", cpu " + cpus[0]);
        check(users[1] > 0 && users[1] <= cpus[1], "own id: user " + users[1] + ", cpu " + cpus[1]);
        check(BEAN.getThreadCpuTime(busy.getId()) == -1, "an ended thread has a CPU time");
        check(BEAN.getThreadUserTime(busy.getId()) == -1, "an ended thread has a user time");
    }

    private static void work() {
        while (!Thread.interrupted()) unusedSink = new byte[100];
    }

    private static void checkYields() throws Exception {
        TaskClockMXBean bean = bean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) threads.add(new Thread(AgentCheck::yieldOften, "yielder-" + i));
        for (Thread thread : threads) thread.start();
        long earlier = 0;
        if (Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS) {
            earlier = awaitVirtualYields(bean);
            for (int i = 0; i < THREADS; i++) {
                threads.add(startVirtual(AgentCheck::yieldOften));
            }
        }
        for (Thread thread : threads) thread.join();
        // The kernel thread of a joined thread may still exist. The thread is then listed by its full name.
        long platform = 0;
        for (TaskClockMXBean.Yielder yielder : bean.getYielders())
            if (yielder.getName().startsWith("yielder-")) platform += yielder.getYields();
        long virtual = virtualYields(bean) - earlier;
        check(platform == THREADS * YIELDS, "yields of platform threads: " + platform);
        check(virtual == (threads.size() - THREADS) * (long) YIELDS, "yields of virtual threads: " + virtual);
        check(bean.getYieldSites().length > 0, "no yield site");
    }

    /** Checks the accounts of virtual threads, including those that yielded. */
    private static void checkAccounts() throws Exception {
        TaskClockMXBean bean = bean();
        long virtual = 0;
        long ended = 0;
        for (TaskClockMXBean.VirtualThreadGroup group : bean.getVirtualThreads()) {
            virtual += group.getCpuNanos();
            ended += group.getEnded();
        }
        long carriers = 0;
        long own = 0;
        for (TaskClockMXBean.Carrier carrier : bean.getCarriers()) {
            carriers += carrier.getCpuNanos();
            own += carrier.getOwnNanos();
        }
        check(ended >= THREADS && virtual > 0, ended + " virtual threads ended, cpu " + virtual);
        // The agent's probe is not listed.
        long probe = 2_000_000;
        check(
                Math.abs(virtual + own - carriers) <= carriers / 100 + probe,
                "virtual threads " + virtual + " + own " + own + " != carriers " + carriers);
    }

    private static Thread startVirtual(Runnable task) throws Exception {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    private static long virtualYields(TaskClockMXBean bean) {
        long yields = 0;
        for (TaskClockMXBean.Yielder yielder : bean.getYielders()) yields += yielder.getVirtualYields();
        return yields;
    }

    /**
     * Waits until yields of virtual threads are counted, and returns how many were. The first virtual thread waits only
     * for some time until its class has been changed, which takes longer under emulation.
     */
    private static long awaitVirtualYields(TaskClockMXBean bean) throws Exception {
        long end = System.nanoTime() + VIRTUAL_TIMEOUT_NANOS;
        while (virtualYields(bean) == 0) {
            check(System.nanoTime() - end < 0, "yields of virtual threads are not counted");
            startVirtual(Thread::yield).join();
        }
        return virtualYields(bean);
    }

    private static void yieldOften() {
        for (int i = 0; i < YIELDS; i++) {
            Thread.yield();
            // Longer than the minimum time between two samples.
            if (i % 500 == 0) LockSupport.parkNanos(12_000_000);
        }
    }
}
