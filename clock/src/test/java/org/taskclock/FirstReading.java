// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Main class of child JVMs: reads the clock for the first time while something is lacking, and again afterwards. */
final class FirstReading {
    private static final long TIMEOUT_NANOS = 30_000_000_000L;

    /** Enough for what this class prints. */
    private static final int MAX_FILE_BYTES = 4096;

    private static final int MAX_READ_DEPTHS = 400;

    // Numbers of shared.h.
    private static final int BACKEND_OFF = -1;
    private static final int BACKEND_ON = -2;

    private static int readDepths;
    private static volatile List<Object> garbage = new ArrayList<>();

    private FirstReading() {}

    public static void main(String[] arguments) throws Exception {
        String lacking = arguments[0];
        CpuLoad.sink = SystemCalls.gettid(); // loads the tests' library and classes
        require(TaskClock.class.getClassLoader() != null); // makes the JDK load what it needs to read our jar
        Runnable remedy = takeAway(lacking);
        if (lacking.equals("stack")) useStack(0);
        else if (lacking.equals("heap")) readWithoutHeap();
        String first = lacking.equals("clone for a while") ? readingWithoutClone() : reading();
        if (lacking.equals("megabyte")) System.out.println("status " + TaskClock.status());
        remedy.run();
        System.out.println("first " + first);
        if (arguments.length > 1) {
            awaitSettled();
            System.out.println("native after reads");
        }
        Backend backend = TaskClock.status().backend();
        CpuAccount account = CpuAccount.withAllocatedBytes();
        account.enter().close();
        require(account.now().uncounted() == 0);
        require(account.now().allocatedBytes() >= 0);
        require(TaskClock.threadMXBean().getCurrentThreadCpuTime() > 0);
        System.out.println("then " + backend + (TaskClock.now().isKnown() ? " known" : " unknown"));
    }

    /** Returns what gives it back. */
    private static Runnable takeAway(String lacking) throws IOException {
        File temporary = new File(System.getProperty("java.io.tmpdir"));
        switch (lacking) {
            case "threads" -> require(SystemCalls.limitMemory());
            case "files" -> require(SystemCalls.limitFiles());
            case "files after a first reading" -> {
                require(TaskClock.cpuNanos() >= 0);
                CpuAccount.create().enter().close(); // loads these classes
                require(SystemCalls.limitFiles());
            }
            case "files while the bean is in use" -> {
                require(ManagementFactory.getPlatformMBeanServer() != null);
                require(SystemCalls.limitFiles());
            }
            case "file size" -> require(SystemCalls.limitFileSize(MAX_FILE_BYTES));
            case "clone" -> require(SystemCalls.denyClone(true));
            case "memfd" -> require(SystemCalls.denyMemfd(1, 0));
            case "mmap" -> require(SystemCalls.denyMmap());
            case "directory" -> {
                File missing = new File(temporary, "missing");
                System.setProperty("java.io.tmpdir", missing.toString());
                return () -> require(missing.mkdir());
            }
            case "space" -> {
                File filler = new File(temporary, "filler");
                try (FileOutputStream out = new FileOutputStream(filler)) {
                    while (true) out.write(new byte[1024]);
                } catch (IOException e) {
                    // The directory is full.
                }
                return () -> require(filler.delete());
            }
            case "switched off" -> {
                LibraryCopy other = new LibraryCopy(Path.of(System.getProperty("test.jar")), LibraryCopy.PACKAGE);
                other.status("backend"); // loads it
                other.selectBackend(BACKEND_OFF);
                return () -> other.selectBackend(BACKEND_ON);
            }
            case "megabyte" -> {
                useHeap(1 << 19);
                return () -> garbage = null;
            }
            default -> {}
        }
        return () -> require(SystemCalls.removeLimits());
    }

    private static String reading() {
        String cpu = TaskClock.cpuNanos() >= 0 ? " known" : " unknown";
        useAccounts();
        try {
            CpuLoad.sink = TaskClock.threadMXBean().getCurrentThreadCpuTime();
        } catch (IllegalStateException e) {
            // ThreadMXBean cannot be initialized now.
        }
        return Backend.inUse() + cpu;
    }

    private static void useAccounts() {
        CpuAccount.create().enter().close();
        CpuAccount.withAllocatedBytes().enter().close();
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
            useAccounts();
        } catch (StackOverflowError e) {
            // The call itself needs a stack frame.
        }
    }

    /** Fills the heap with arrays of at least this size. */
    private static void useHeap(int least) {
        for (int size = 1 << 20; size >= least; size /= 2) {
            try {
                while (true) garbage.add(new byte[size]);
            } catch (OutOfMemoryError e) {
                // Continues with smaller pieces.
            }
        }
    }

    private static void readWithoutHeap() {
        useHeap(16);
        for (int i = 0; i < 10; i++) {
            try {
                TaskClock.cpuNanos();
                useAccounts();
            } catch (OutOfMemoryError e) {
                // The JVM could not load a class, or create the account.
            }
        }
        garbage = null;
    }

    private static void require(boolean condition) {
        if (!condition) throw new AssertionError();
    }
}
