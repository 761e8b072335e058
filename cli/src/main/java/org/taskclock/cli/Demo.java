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

/**
 * A program to watch where there is no other: one thread that computes, one that calls the kernel, one that yields, one that makes
 * garbage, some that sleep, and virtual ones where there are. Ends with who started it.
 */
final class Demo {
    private static final long MILLIS = 1_000_000;

    /** What threads make goes here, so that it must be made. */
    static volatile Object sink;

    private Demo() {}

    /** Starts it as a child, which is ended with this JVM. */
    static Process start() throws IOException {
        String jar =
                Demo.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process child = new ProcessBuilder(
                        List.of(java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", jar, Demo.class.getName()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(child::destroyForcibly));
        // It says a line when all its threads run.
        if (child.getInputStream().read() < 0) throw new IOException("the demonstration did not start: " + java);
        return child;
    }

    public static void main(String[] args) throws IOException {
        thread("compute-1", () -> compute(60, 100));
        thread("compute-2", () -> compute(20, 100));
        thread("kernel-calls", Demo::callKernel);
        thread("yielder", Demo::giveWay);
        thread("garbage", Demo::makeGarbage);
        for (int i = 1; i <= 4; i++) thread("pool-1-thread-" + i, () -> compute(1, 500));
        for (int i = 1; i <= 20; i++) startVirtual("request-" + i, () -> compute(2, 200));
        System.out.println("ready");
        // Until whoever started it is gone, however it went.
        System.in.transferTo(OutputStream.nullOutputStream());
        Runtime.getRuntime().halt(0);
    }

    private static void thread(String name, Runnable what) {
        Thread thread = new Thread(what, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** By name, as they came with JDK 21. */
    private static void startVirtual(String name, Runnable what) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Method named = type.getMethod("name", String.class);
            type.getMethod("start", Runnable.class).invoke(named.invoke(builder, name), what);
        } catch (ReflectiveOperationException e) {
            // There are none here.
        }
    }

    private static void compute(int busyMillis, int periodMillis) {
        Random random = new Random(1);
        while (true) {
            long end = System.nanoTime() + busyMillis * MILLIS;
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
                long end = System.nanoTime() + 30 * MILLIS;
                while (System.nanoTime() < end) for (int i = 0; i < 100; i++) sink = zeros.read(one);
            } catch (IOException e) {
                return;
            }
            sleep(70);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // a bad example is what it is
    private static void giveWay() {
        while (true) Thread.yield();
    }

    private static void makeGarbage() {
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
