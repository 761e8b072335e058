// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;

/** Starts as many virtual threads as the argument says, and prints a scrape while they are alive. */
@SuppressWarnings("ThreadPriorityCheck") // yields are counted
final class AgentProgram {
    private AgentProgram() {}

    public static void main(String[] args) throws Exception {
        String state = System.getProperty("taskclock.agent");
        while (state != null && !System.getProperty("taskclock.agent").contains(",backend=")) Thread.sleep(5);
        int count = Integer.parseInt(args[0]);
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        builder = type.getMethod("name", String.class, long.class).invoke(builder, "request-", 0L);
        Method start = type.getMethod("start", Runnable.class);
        CountDownLatch ready = new CountDownLatch(count);
        CountDownLatch end = new CountDownLatch(1);
        Object[] threads = new Object[count]; // unreachable ones could be collected
        for (int i = 0; i < count; i++)
            threads[i] = start.invoke(builder, (Runnable) () -> {
                Thread.yield();
                ready.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        ready.await();
        Thread.yield();
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new TaskClockMetrics().bindTo(registry);
        System.out.print(registry.scrape());
        end.countDown();
        for (Object thread : threads) ((Thread) thread).join();
    }
}
