// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.apache.commons.math3.stat.descriptive.rank.Median;

/**
 * The resources that an engine uses at one moment. The heap has a fixed size and is touched when the JVM starts, so
 * resident memory grows only with native memory; files that the engine maps are excluded.
 *
 * @param operations of the engine so far
 * @param threads of the process, including the JVM's own
 * @param agentBytes the memory that the agent reports; 0 while it is detached
 */
record EngineResources(
        double seconds,
        long operations,
        long threads,
        long descriptors,
        long residentKb,
        long metaspaceKb,
        long classes,
        long agentBytes) {
    /**
     * The change of a figure during a soak test.
     *
     * @param early median of the third tenth of the samples
     * @param late median of the last tenth
     * @param allowed the maximum growth
     */
    record Growth(double early, double late, double allowed) {
        boolean isGood() {
            return late - early <= allowed;
        }
    }

    private static final ObjectName CLASSES = Engine.name("java.lang:type=ClassLoading");
    private static final ObjectName METASPACE = Engine.name("java.lang:type=MemoryPool,name=Metaspace");

    static EngineResources of(Engine engine, double seconds, long agentBytes) throws IOException, JMException {
        Path process = Path.of("/proc", String.valueOf(engine.pid()));
        long threads = 0;
        long resident = 0;
        for (String line : Files.readAllLines(process.resolve("status"))) {
            if (line.startsWith("Threads:")) threads = number(line);
            if (line.startsWith("RssAnon:")) resident = number(line);
        }
        CompositeData metaspace = (CompositeData) engine.beans().getAttribute(METASPACE, "Usage");
        return new EngineResources(
                seconds,
                engine.operations(),
                threads,
                count(process.resolve("fd")),
                resident,
                (long) metaspace.get("used") / 1024,
                ((Number) engine.beans().getAttribute(CLASSES, "LoadedClassCount")).longValue(),
                agentBytes);
    }

    /** Returns the longest time in seconds without an operation. */
    static double longestPause(List<EngineResources> samples) {
        double longest = 0;
        EngineResources last = null;
        for (EngineResources sample : samples) {
            double since = last == null ? 0 : sample.seconds - last.seconds;
            longest = Math.max(longest, since);
            if (last == null || sample.operations > last.operations) last = sample;
        }
        return longest;
    }

    private static long number(String line) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }

    private static long count(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.count();
        }
    }

    /** Compares the end of a soak test with its third tenth, in which the engine has warmed up. */
    static Map<String, Growth> growth(List<EngineResources> samples) {
        Map<String, Growth> growth = new LinkedHashMap<>();
        if (samples.isEmpty()) return growth;
        growth.put("threads", growth(samples, EngineResources::threads, 0.02, 4));
        growth.put("descriptors", growth(samples, EngineResources::descriptors, 0.02, 4));
        growth.put("resident memory without files, KB", growth(samples, EngineResources::residentKb, 0.03, 0));
        growth.put("metaspace, KB", growth(samples, EngineResources::metaspaceKb, 0.03, 0));
        growth.put("loaded classes", growth(samples, EngineResources::classes, 0.03, 0));
        growth.put("memory of the agent, bytes", growth(samples, EngineResources::agentBytes, 0.05, 65_536));
        return growth;
    }

    private static Growth growth(
            List<EngineResources> samples, ToDoubleFunction<EngineResources> figure, double share, double amount) {
        int tenth = Math.max(1, samples.size() / 10);
        double early = median(
                samples.subList(Math.min(2 * tenth, samples.size() - 1), Math.min(3 * tenth, samples.size())), figure);
        double late = median(samples.subList(samples.size() - tenth, samples.size()), figure);
        return new Growth(early, late, early * share + amount);
    }

    private static double median(List<EngineResources> samples, ToDoubleFunction<EngineResources> figure) {
        return new Median().evaluate(samples.stream().mapToDouble(figure).toArray());
    }
}
