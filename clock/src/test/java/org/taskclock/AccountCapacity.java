// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Main class of child JVMs: uses many accounts, and prints what they cost. */
final class AccountCapacity {
    private static final int THREADS = 4;

    private final AccountType type = CpuAccounts.type("test");

    public static void main(String[] arguments) throws InterruptedException {
        int names = Integer.parseInt(arguments[0]);
        AccountCapacity test = new AccountCapacity();
        test.use("warm-up", 1_000);
        test.type.read();
        long heap = heapBytes();
        long first = test.use("a", names / 2);
        test.type.read();
        long second = test.use("b", names / 2);
        AccountReading reading = test.type.read();
        long sections =
                reading.accounts().stream().mapToLong(AccountUsage::sections).sum();
        System.out.println("MB " + (heapBytes() - heap) / 1_000_000);
        System.out.println("rows " + reading.accounts().size());
        System.out.println("names " + reading.names());
        System.out.println("sections " + (sections + reading.retired().sections()));
        System.out.println("ratio " + second / Math.max(1, first));
        System.out.println("ns " + (first + second) / names);
    }

    /** Enters accounts once each. Returns the CPU time that this took. */
    private long use(String prefix, int names) throws InterruptedException {
        LongAdder used = new LongAdder();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            String start = prefix + " " + i + " ";
            Thread thread = new Thread(() -> {
                for (int j = 0; j < names / THREADS; j++)
                    type.of(start + j).enter().close();
                used.add(TaskClock.cpuNanos());
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) thread.join();
        return used.sum();
    }

    private static long heapBytes() {
        for (int i = 0; i < 3; i++) System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
