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

/**
 * All that the agent does, once, and whether it is right: for surroundings in which nothing but the JDK is at hand. Wants
 * the agent with {@code yield=count}; the system property {@code test.expectedRung} tells which rung must be used. Prints nothing; a failure ends the JVM with exit code 1.
 */
@SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
final class Sample {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int READINGS = 20_000;
    private static final int YIELDS = 3_000;
    private static final int THREADS = 4;

    private static volatile Object unusedSink;

    private Sample() {}

    public static void main(String[] args) throws Exception {
        String state = System.getProperty("taskclock.agent", "no agent");
        check(state.contains("threadmxbean=on,yield=count") && !state.contains("left out"), state);
        String rung = System.getProperty("test.expectedRung");
        check(rung == null || rung.equals(bean().getRung()), bean().getRung() + ", not rung " + rung);
        readings();
        otherThreads();
        yields();
        if (Runtime.version().feature() >= 21) accounts();
    }

    private static final long BEAN_WITHIN_NANOS = 5_000_000_000L;

    /** Waits for it, as it is registered while the program starts. */
    static TaskClockMXBean bean() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName(TaskClockMXBean.NAME);
        long end = System.nanoTime() + BEAN_WITHIN_NANOS;
        while (!server.isRegistered(name)) {
            check(System.nanoTime() - end < 0, name + " is not registered");
            Thread.sleep(5);
        }
        return JMX.newMXBeanProxy(server, name, TaskClockMXBean.class);
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) throw new AssertionError(otherwise);
    }

    private static void readings() {
        long id = Thread.currentThread().getId();
        long cpu = 0;
        long user = 0;
        for (int i = 0; i < READINGS; i++) {
            unusedSink = new byte[1_000];
            long lastCpu = cpu;
            long lastUser = user;
            user = i % 2 == 0 ? BEAN.getCurrentThreadUserTime() : BEAN.getThreadUserTime(id);
            cpu = i % 2 == 0 ? BEAN.getThreadCpuTime(id) : BEAN.getCurrentThreadCpuTime();
            check(cpu >= lastCpu && user >= lastUser, "backwards: " + cpu + " after " + lastCpu + ", user " + user);
            check(user <= cpu, "user time " + user + " of " + cpu);
        }
        check(user > 0, "no user time of " + cpu);
    }

    private static void otherThreads() throws InterruptedException {
        Thread busy = new Thread(Sample::work, "busy");
        busy.start();
        busy.join(50);
        long[] ids = {busy.getId(), Thread.currentThread().getId()};
        long[] users = BEAN.getThreadUserTime(ids);
        long[] cpus = BEAN.getThreadCpuTime(ids);
        busy.interrupt();
        busy.join();
        // From 25.0.5 on it is the JVM's, a number of ticks, which may be more than there was time.
        long more = Runtime.version().feature() < 25 ? 0 : 100_000_000;
        check(users[0] >= 0 && users[0] <= cpus[0] + more, "of another thread: user " + users[0] + " of " + cpus[0]);
        check(users[1] > 0 && users[1] <= cpus[1], "by id: user " + users[1] + " of " + cpus[1]);
        check(BEAN.getThreadCpuTime(busy.getId()) == -1, "the time of an ended thread");
        check(BEAN.getThreadUserTime(busy.getId()) == -1, "the user time of an ended thread");
    }

    private static void work() {
        while (!Thread.interrupted()) unusedSink = new byte[100];
    }

    private static void yields() throws Exception {
        TaskClockMXBean bean = bean();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) all.add(new Thread(Sample::yieldOften, "yielder-" + i));
        for (Thread thread : all) thread.start();
        if (Runtime.version().feature() >= 21) {
            for (int i = 0; i < THREADS; i++) {
                all.add((Thread) Thread.class
                        .getMethod("startVirtualThread", Runnable.class)
                        .invoke(null, (Runnable) Sample::yieldOften));
            }
        }
        for (Thread thread : all) thread.join();
        // A thread that was joined may not have left the kernel yet, and so stand by its full name.
        long platform = 0;
        long virtual = 0;
        for (TaskClockMXBean.Yielder yielder : bean.getYielders()) {
            if (yielder.getName().startsWith("yielder-")) platform += yielder.getYields();
            virtual += yielder.getVirtualYields();
        }
        check(platform == THREADS * YIELDS, "yields of platform threads: " + platform);
        check(virtual == (all.size() - THREADS) * (long) YIELDS, "yields of virtual threads: " + virtual);
        check(bean.getYieldSites().length > 0, "no place of a yield is known");
    }

    /** Those that yielded are among them. */
    private static void accounts() throws Exception {
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
        check(ended >= THREADS && virtual > 0, ended + " virtual threads used " + virtual);
        check(Math.abs(virtual + own - carriers) <= carriers / 100, virtual + " and " + own + " are not " + carriers);
    }

    private static void yieldOften() {
        for (int i = 0; i < YIELDS; i++) {
            Thread.yield();
            // Longer than the space between two samples.
            if (i % 500 == 0) LockSupport.parkNanos(60_000_000 / 5);
        }
    }
}
