// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import one.convert.Arguments;
import one.convert.Frame;
import one.convert.JfrConverter;
import one.jfr.JfrReader;
import one.jfr.StackTrace;
import one.jfr.event.Event;

/** Reads the samples of a recording with async-profiler's converter. */
final class JfrSamples extends JfrConverter {
    private final long periodNanos;
    private final List<StackSource.Sample> samples = new ArrayList<>();

    /** Each name once, because thousands of stacks have the same frames. */
    private final Map<String, String> names = new HashMap<>();

    private JfrSamples(JfrReader reader, Arguments arguments, long periodNanos) {
        super(reader, arguments);
        this.periodNanos = periodNanos;
    }

    /** Returns the samples of the CPU-time sampler, or else those of all samplers. */
    static List<StackSource.Sample> read(Path file, boolean cpuTime, long periodNanos) throws IOException {
        Arguments arguments = new Arguments();
        arguments.cpuTime = cpuTime;
        arguments.threads = true;
        arguments.dot = true;
        arguments.norm = true;
        try (JfrReader reader = new JfrReader(file.toString())) {
            JfrSamples converter = new JfrSamples(reader, arguments, periodNanos);
            converter.convert();
            return converter.samples;
        } catch (RuntimeException e) {
            throw new ProfileException(file + ": is damaged: " + e, e);
        }
    }

    @Override
    protected void convertChunk() {
        collector.forEach(new AggregatedEventVisitor() {
            @Override
            protected void visit(Event event, long count) {
                String thread = jfr.threads.get(event.tid);
                Long javaId = jfr.javaThreads.get(event.tid);
                samples.add(new StackSource.Sample(
                        thread == null ? "" : thread,
                        0,
                        javaId == null ? 0 : javaId,
                        frames(jfr.stackTraces.get(event.stackTraceId)),
                        count,
                        count * periodNanos));
            }
        });
    }

    /** Returns the frames outermost first; empty if the sampler could not walk the stack. */
    private List<String> frames(StackTrace stack) {
        List<String> frames = new ArrayList<>();
        if (stack == null) return frames;
        for (int i = stack.methods.length - 1; i >= 0; i--) {
            String suffix =
                    switch (stack.types[i]) {
                        case Frame.TYPE_INTERPRETED -> "_[0]";
                        case Frame.TYPE_INLINED -> "_[i]";
                        default -> "_[j]";
                    };
            String frame = getMethodName(stack.methods[i], stack.types[i]) + suffix;
            String known = names.putIfAbsent(frame, frame);
            frames.add(known == null ? frame : known);
        }
        return frames;
    }
}
