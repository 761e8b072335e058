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
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;

/** Measures what OpenSearch's readings of CPU time cost, and counts them. */
final class ReadTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int READS = 50_000;
    private static final int REPETITIONS = 9;

    private ReadTest() {}

    /** Appends a row each for the JVM and the agent, which take turns. */
    static void appendCosts(Report report) throws Exception {
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
        List<LongSupplier> reads = List.of(
                () -> THREADS.getThreadCpuTime(own),
                () -> THREADS.getThreadCpuTime(otherId),
                () -> THREADS.getThreadAllocatedBytes(own));
        List<List<double[]>> rows = List.of(new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < 2 * REPETITIONS; i++) {
            Switches.agent(i % 2 == 1);
            double[] wakeup = Wakeups.nanos(
                    () -> THREADS.getThreadCpuTime(Thread.currentThread().threadId()));
            double[] row = {0, wakeup[0], wakeup[1], 0, 0};
            int[] columns = {0, 3, 4};
            for (int j = 0; j < columns.length; j++) {
                nanos(reads.get(j));
                row[columns[j]] = nanos(reads.get(j));
            }
            rows.get(i % 2).add(row);
        }
        Switches.agent(false);
        end.countDown();
        other.join();
        append(report, "JVM", rows.get(0));
        append(report, "agent", rows.get(1));
    }

    private static void append(Report report, String clock, List<double[]> rows) {
        report.append("| %s |", clock);
        for (int i = 0; i < rows.get(0).length; i++) {
            int column = i;
            report.append(
                    " %.0f |",
                    Report.median(rows.stream().map(row -> row[column]).toList()));
        }
        report.append("%n");
    }

    private static double nanos(LongSupplier read) {
        long start = System.nanoTime();
        long sum = 0;
        for (int i = 0; i < READS; i++) sum += read.getAsLong();
        if (sum <= 0) throw new IllegalStateException("no CPU time");
        return (System.nanoTime() - start) / (double) READS;
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
                if (!event.getEventType().getName().equals("jdk.MethodTiming")) continue;
                RecordedMethod method = event.getValue("method");
                if (method.getDescriptor().equals("(J)J")) calls += event.getLong("invocations");
            }
            return calls / (double) searches;
        } finally {
            Files.delete(file);
        }
    }
}
