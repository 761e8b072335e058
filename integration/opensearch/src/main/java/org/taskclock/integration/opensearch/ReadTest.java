// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** Measures what OpenSearch's readings of CPU time cost, and counts them. */
final class ReadTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int READS = 50_000;
    private static final int REPETITIONS = 9;

    private ReadTest() {}

    /** Appends the columns for the calling thread's id, another thread's, and the allocated bytes. */
    static void appendCosts(Report report, String clock) throws InterruptedException {
        long own = Thread.currentThread().threadId();
        CountDownLatch end = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        other.start();
        long otherId = other.threadId();
        report.append(
                "| %s | %.0f | %.0f | %.0f |%n",
                clock,
                nanos(() -> THREADS.getThreadCpuTime(own)),
                nanos(() -> THREADS.getThreadCpuTime(otherId)),
                nanos(() -> THREADS.getThreadAllocatedBytes(own)));
        end.countDown();
        other.join();
    }

    private static double nanos(LongSupplier read) {
        List<Double> nanos = new ArrayList<>();
        for (int i = 0; i < 2 * REPETITIONS; i++) {
            boolean isWarmUp = i < REPETITIONS;
            long start = System.nanoTime();
            long sum = 0;
            for (int j = 0; j < READS; j++) sum += read.getAsLong();
            if (!isWarmUp) nanos.add((System.nanoTime() - start) / (double) READS);
            if (sum <= 0) throw new IllegalStateException("no CPU time");
        }
        return Report.median(nanos);
    }

    /** Returns the number of calls of getThreadCpuTime with an id per search; -1 if the JDK cannot count them. */
    static double callsPerSearch(SearchLoad load) throws Exception {
        boolean canCount = FlightRecorder.getFlightRecorder().getEventTypes().stream()
                .map(EventType::getName)
                .anyMatch("jdk.MethodTiming"::equals);
        if (!canCount) return -1;
        Path file = Files.createTempFile("calls", ".jfr");
        try (Recording recording = new Recording()) {
            recording
                    .enable("jdk.MethodTiming")
                    .with("filter", "sun.management.ThreadImpl::getThreadCpuTime")
                    .with("period", "endChunk");
            recording.start();
            long searches = load.run(5).searches();
            recording.stop();
            recording.dump(file);
            long calls = 0;
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                if (event.getEventType().getName().equals("jdk.MethodTiming")) calls += event.getLong("invocations");
            }
            return calls / (double) searches;
        } finally {
            Files.delete(file);
        }
    }
}
