// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Main class of child JVMs: threads take areas and give them back while the JVM allocates and starts processes. */
final class TakeProgram {
    private static final int ROUNDS = 5;
    private static final int THREADS = 8;
    private static final int READINGS = 20_000;
    private static final int PAUSE_INTERVAL = 1_000;
    private static final int OFF = -1;
    private static final int ON = -2;

    private TakeProgram() {}

    public static void main(String[] arguments) throws Exception {
        read(); // loads the library
        for (int round = 0; round < ROUNDS; round++) {
            Library.selectBackend(ON);
            if (Backend.decided() != Backend.RSEQ_TAKE) throw new AssertionError(TaskClock.status());
            readInThreads();
            int exit = new ProcessBuilder("true").start().waitFor();
            if (exit != 0) throw new AssertionError("a process that was started exited with " + exit);
            Library.selectBackend(OFF);
            readInThreads();
        }
        System.out.println("passed");
    }

    private static void readInThreads() throws InterruptedException {
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(TakeProgram::read);
            thread.setUncaughtExceptionHandler((failed, failure) -> {
                synchronized (failures) {
                    failures.add(failure);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) thread.join();
        read();
        if (!failures.isEmpty()) throw new AssertionError(failures);
    }

    private static void read() {
        long last = 0;
        for (int i = 0; i < READINGS; i++) {
            byte[] garbage = new byte[1 + i % PAUSE_INTERVAL];
            if (garbage.length == PAUSE_INTERVAL) LockSupport.parkNanos(1);
            long cpu = TaskClock.cpuNanos();
            if (cpu < last) throw new AssertionError(cpu + " after " + last);
            last = cpu;
        }
    }
}
