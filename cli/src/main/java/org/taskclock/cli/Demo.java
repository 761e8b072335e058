// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * A demo program for {@code top}: threads that compute, call the kernel, yield, allocate, and sleep, and virtual
 * threads if the JDK has them. Exits with the process that started it.
 */
final class Demo {
    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Keeps the compiler from eliminating the work. */
    static volatile Object sink;

    private Demo() {}

    /** Starts a child process, which is killed when this JVM exits. */
    static Process start() throws IOException {
        String jar =
                Demo.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process child = new ProcessBuilder(
                        List.of(java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", jar, Demo.class.getName()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(child::destroyForcibly));
        // It prints a line once all threads are running.
        if (child.getInputStream().read() < 0) throw new IOException("the demo program did not start: " + java);
        return child;
    }

    public static void main(String[] args) throws IOException {
        new DaemonThread(() -> compute(60, 100), "compute-1").start();
        new DaemonThread(() -> compute(20, 100), "compute-2").start();
        new DaemonThread(Demo::callKernel, "kernel-calls").start();
        new DaemonThread(Demo::yieldForever, "yielder").start();
        new DaemonThread(Demo::allocate, "garbage").start();
        for (int i = 1; i <= 4; i++) new DaemonThread(() -> compute(1, 500), "pool-1-thread-" + i).start();
        for (int i = 1; i <= 20; i++) startVirtual("request-" + i, () -> compute(2, 200));
        System.out.println("ready");
        // Standard input ends when the parent process does.
        System.in.transferTo(OutputStream.nullOutputStream());
        Runtime.getRuntime().halt(0);
    }

    /** Starts a virtual thread, by reflection because this class is compiled for JDK 17. */
    private static void startVirtual(String name, Runnable task) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Method named = type.getMethod("name", String.class);
            type.getMethod("start", Runnable.class).invoke(named.invoke(builder, name), task);
        } catch (ReflectiveOperationException e) {
            // The JDK has no virtual threads.
        }
    }

    private static void compute(int busyMillis, int periodMillis) {
        Random random = new Random(1);
        while (true) {
            long end = System.nanoTime() + busyMillis * NANOS_PER_MILLI;
            long sum = 0;
            while (System.nanoTime() < end) sum += random.nextInt();
            sink = sum;
            sleep(periodMillis - busyMillis);
        }
    }

    private static void callKernel() {
        byte[] one = new byte[1];
        while (true) {
            try (InputStream zeros = Files.newInputStream(Path.of("/dev/zero"))) {
                long end = System.nanoTime() + 30 * NANOS_PER_MILLI;
                while (System.nanoTime() < end) for (int i = 0; i < 100; i++) sink = zeros.read(one);
            } catch (IOException e) {
                return;
            }
            sleep(70);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // demonstrates a yield storm
    private static void yieldForever() {
        while (true) Thread.yield();
    }

    private static void allocate() {
        while (true) {
            for (int i = 0; i < 200; i++) sink = new byte[10_000];
            sleep(10);
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
