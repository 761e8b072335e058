// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import org.taskclock.CpuAccounts;
import org.taskclock.internal.JdkVersions;

/**
 * A program that knows nothing of OpenTelemetry. It uses CPU time, for an account and on a virtual thread too where
 * there are any.
 */
@SuppressWarnings("ThreadPriorityCheck") // yields are counted
final class ExtensionProgram {
    private ExtensionProgram() {}

    public static void main(String[] args) throws Exception {
        // Set only if TaskClock's agent is there.
        String state = System.getProperty("taskclock.agent");
        while (state != null && !System.getProperty("taskclock.agent").contains(",backend=")) Thread.sleep(5);
        Thread thread = new Thread(ExtensionProgram::work, "worker-1");
        if (Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
            builder = type.getMethod("name", String.class).invoke(builder, "request-1");
            Thread virtual =
                    (Thread) type.getMethod("start", Runnable.class).invoke(builder, (Runnable) ExtensionProgram::work);
            virtual.join();
        }
        thread.start();
        // The thread lives while the agent collects for the first time.
        Thread.sleep(Long.parseLong(args[0]));
        System.exit(0);
    }

    private static void work() {
        long end = System.nanoTime() + 100_000_000;
        while (System.nanoTime() < end) Thread.onSpinWait();
        Thread.yield();
        if (Thread.currentThread().getName().startsWith("worker"))
            while (true) {
                try {
                    CpuAccounts.type("tenant")
                            .withDistribution()
                            .of("acme")
                            .enter()
                            .close();
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    return;
                }
            }
    }
}
