// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Main class of child JVMs: reads the clock for the first time while something is lacking, and again afterwards. */
final class FirstReading {
    private static final long TIMEOUT_NANOS = 30_000_000_000L;

    private static final int MAX_READ_DEPTHS = 400;

    // Numbers of shared.h.
    private static final int BACKEND_OFF = -1;
    private static final int BACKEND_ON = -2;

    private static int readDepths;
    private static List<Object> garbage = new ArrayList<>();

    private FirstReading() {}

    public static void main(String[] arguments) throws Exception {
        String lacking = arguments[0];
        SystemCalls.gettid(); // loads the tests' library
        require(TaskClock.class.getClassLoader() != null); // makes the JDK load what it needs to read our jar
        File directory = new File(System.getProperty("java.io.tmpdir"), "taskclock-test-" + SystemCalls.gettid());
        LibraryCopy other = new LibraryCopy(Path.of(System.getProperty("test.jar")), LibraryCopy.PACKAGE);
        if (lacking.equals("switched off")) other.status("backend"); // loads it
        switch (lacking) {
            case "threads" -> require(SystemCalls.limitMemory());
            case "files" -> require(SystemCalls.limitFiles());
            case "directory" -> System.setProperty("java.io.tmpdir", directory.toString());
            case "clone" -> require(SystemCalls.denyClone(true));
            case "memfd" -> require(SystemCalls.denyMemfd(1, 0));
            case "switched off" -> other.selectBackend(BACKEND_OFF);
            default -> {}
        }
        if (lacking.equals("stack")) useStack(0);
        else if (lacking.equals("heap")) useHeap();
        String first = lacking.equals("clone for a while") ? readingWithoutClone() : reading();
        if (lacking.equals("switched off")) other.selectBackend(BACKEND_ON);
        require(SystemCalls.removeLimits());
        if (lacking.equals("directory")) require(directory.mkdir());
        System.out.println("first " + first);
        if (arguments.length > 1) {
            awaitSettled();
            System.out.println("native after reads");
        }
        Backend backend = TaskClock.status().backend();
        CpuAccount account = new CpuAccount();
        account.enter().close();
        require(account.now().uncounted() == 0);
        System.out.println("then " + backend + (TaskClock.now().isKnown() ? " known" : " unknown"));
        if (lacking.equals("directory")) require(directory.delete());
    }

    private static String reading() {
        String cpu = TaskClock.cpuNanos() >= 0 ? " known" : " unknown";
        return Backend.inUse() + cpu;
    }

    /** Reads on a thread that cannot start others. */
    private static String readingWithoutClone() throws InterruptedException {
        String[] read = new String[1];
        Thread thread = new Thread(() -> {
            require(SystemCalls.denyClone(false));
            read[0] = reading();
        });
        thread.start();
        thread.join();
        return read[0];
    }

    private static void awaitSettled() {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        while (!TaskClock.isSettled && System.nanoTime() < end) TaskClock.cpuNanos();
        require(TaskClock.isSettled);
    }

    /** Reads at each of the last depths that the stack allows, the deepest first. */
    private static void useStack(int depth) {
        try {
            if (depth < Integer.MAX_VALUE) useStack(depth + 1);
        } catch (StackOverflowError e) {
            // This is the caller of the deepest call.
        }
        if (++readDepths > MAX_READ_DEPTHS) return;
        try {
            TaskClock.cpuNanos();
        } catch (StackOverflowError e) {
            // The call itself needs a stack frame.
        }
    }

    private static void useHeap() {
        for (int size = 1 << 20; size >= 16; size /= 2) {
            try {
                while (true) garbage.add(new byte[size]);
            } catch (OutOfMemoryError e) {
                // Continues with smaller pieces.
            }
        }
        for (int i = 0; i < 10; i++) {
            try {
                TaskClock.cpuNanos();
            } catch (OutOfMemoryError e) {
                // The JVM could not load TaskClock itself.
            }
        }
        garbage = null;
    }

    private static void require(boolean condition) {
        if (!condition) throw new AssertionError();
    }
}
