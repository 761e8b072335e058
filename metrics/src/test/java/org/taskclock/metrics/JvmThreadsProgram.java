// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.ObjectName;

/** Child JVMs of {@link ChildJvmTest}. The argument is the name of the case. */
@SuppressWarnings("ThreadPriorityCheck") // yields are counted
final class JvmThreadsProgram {
    private JvmThreadsProgram() {}

    public static void main(String[] args) throws Exception {
        awaitAgent();
        switch (args[0]) {
            case "mxbean" -> readThroughBean();
            case "agent" -> readVirtualThreadsAndDetach();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    /** Waits until the agent, if there is one, has its bean, 0.2 s after the start. */
    private static void awaitAgent() throws InterruptedException {
        String state = System.getProperty("taskclock.agent");
        while (state != null && !System.getProperty("taskclock.agent").contains(",backend=")) Thread.sleep(5);
    }

    private static void readThroughBean() {
        Readings readings = new Readings();
        try (Load load = new Load("bean-1", () -> Load.burn(100))) {
            readings.take();
            load.run();
            PoolUsage pool = readings.take().java("bean-#");
            assertThat(pool.cpuNanos()).isBetween(100 * Load.MILLIS, 120 * Load.MILLIS);
            assertThat(pool.threads()).isEqualTo(1);
            assertThat(pool.waitNanos()).isEqualTo(-1);
            assertThat(pool.voluntary()).isEqualTo(-1);
        }
        assertThat(readings.take().java("bean-#").threads()).isZero();
        assertThat(readings.cpuNanos(ThreadKind.GC) + readings.cpuNanos(ThreadKind.NATIVE))
                .isZero();
        assertThat(Metric.PROCESS_CPU_TIME.points(new JvmThreads().usage())).isEmpty();
        assertThat(Metric.THREAD_WAIT_TIME.points(new JvmThreads().usage())).isEmpty();
    }

    private static void readVirtualThreadsAndDetach() throws Exception {
        Readings readings = new Readings();
        readings.take();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 50; i++) threads.add(startVirtual("request-" + i));
        for (Thread thread : threads) thread.join();
        readings.take();
        PoolUsage requests = readings.pool("request-#", ThreadKind.VIRTUAL);
        PoolUsage carriers = readings.pool("ForkJoinPool-#-worker-#", ThreadKind.CARRIER);
        assertThat(requests.cpuNanos()).isGreaterThan(100 * Load.MILLIS);
        assertThat(carriers.cpuNanos()).isLessThan(requests.cpuNanos() / 2);
        // By name, the agent samples the yields of virtual threads.
        assertThat(requests.yields()).isBetween(1L, 50 * 3L);
        assertThat(readings.java("main").yields()).isEqualTo(-1);
        Thread.yield();
        readings.take();
        assertThat(readings.java("main").yields()).isEqualTo(1);
        ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("org.taskclock:type=TaskClock"), "detach", null, null);
        startVirtual("request-1").join();
        readings.take();
        assertThat(readings.pool("request-#", ThreadKind.VIRTUAL)).isEqualTo(requests.withThreads(0));
    }

    private static Thread startVirtual(String name) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        builder = type.getMethod("name", String.class).invoke(builder, name);
        Runnable work = () -> {
            // The clock of a virtual thread needs the agent.
            long end = System.nanoTime() + 10 * Load.MILLIS;
            while (System.nanoTime() < end) Thread.onSpinWait();
            for (int i = 0; i < 3; i++) Thread.yield();
        };
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, work);
    }
}
