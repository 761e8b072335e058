// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.taskclock.KernelReaders;

/**
 * A program whose threads keep all processors busy with operations on JDK collections, like compiled server code.
 * Prints a line with the kernel's ids of its workers, and then a line every 50 ms: the time, and the operations and CPU
 * time of the workers since the previous line.
 */
final class AttachedProgram {
    private static final int WINDOW_MILLIS = 50;
    /** Longs per worker, so that no two workers share a cache line. */
    private static final int SPACING = 16;

    private static volatile Object unusedSink;

    private AttachedProgram() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        int workers = Runtime.getRuntime().availableProcessors();
        AtomicLongArray done = new AtomicLongArray(workers * SPACING);
        AtomicLongArray tids = new AtomicLongArray(workers);
        for (int w = 0; w < workers; w++) {
            int number = w;
            Thread thread = new Thread(
                    () -> {
                        tids.set(number, KernelReaders.tid());
                        while (true) {
                            operate(number);
                            done.setRelease(number * SPACING, done.getPlain(number * SPACING) + 1);
                        }
                    },
                    "worker-" + w);
            thread.setDaemon(true);
            thread.start();
        }
        String ids = tids.toString();
        while (ids.contains("[0") || ids.contains(" 0")) {
            Thread.sleep(1);
            ids = tids.toString();
        }
        System.out.println(ids.substring(1, ids.length() - 1).replace(",", ""));
        long lastDone = 0;
        long lastNanos = 0;
        while (true) {
            TimeUnit.MILLISECONDS.sleep(WINDOW_MILLIS);
            long operations = 0;
            long nanos = 0;
            for (int w = 0; w < workers; w++) {
                operations += done.getAcquire(w * SPACING);
                String schedstat = Files.readString(Path.of("/proc/self/task/" + tids.get(w) + "/schedstat"));
                nanos += Long.parseLong(schedstat.substring(0, schedstat.indexOf(' ')));
            }
            System.out.println(System.nanoTime() + " " + (operations - lastDone) + " " + (nanos - lastNanos));
            lastDone = operations;
            lastNanos = nanos;
        }
    }

    /** Uses maps, iterators, streams, and strings for about 20 us. */
    private static void operate(int seed) {
        Map<String, Integer> sorted = new TreeMap<>();
        Map<Integer, String> hashed = new HashMap<>();
        for (int i = 0; i < 40; i++) {
            String text = Integer.toString(seed * 31 + i * 7);
            sorted.merge(text, i, Integer::sum);
            hashed.put(i, text);
        }
        int sum = 0;
        for (Map.Entry<String, Integer> entry : sorted.entrySet())
            sum += entry.getValue() + entry.getKey().length();
        for (Integer key : hashed.keySet()) sum += hashed.get(key).hashCode() + key;
        sum += IntStream.range(0, 50).filter(i -> i % 3 != 0).sum();
        unusedSink = sum;
    }
}
