// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.nio.file.Files;
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
import org.taskclock.monitor.proc.TargetFiles;
import org.taskclock.monitor.proc.TemporaryFolderException;

/** Reads the samples of a recording with async-profiler's converter. */
final class JfrSamples extends JfrConverter {
    private static final long TIMEOUT_MILLIS = 30_000;
    private static final long MAX_RECORDING_BYTES = 1L << 30;

    /** JFR has two bytes for a line, and -1 for that of a hidden frame, such as the call of a lambda expression. */
    private static final int UNKNOWN_LINE = 0xffff;

    private final long periodNanos;
    private boolean isOfAsyncProfiler;
    private final List<StackSource.Sample> samples = new ArrayList<>();

    /** Each name once, because thousands of stacks have the same frames. */
    private final Map<String, String> names = new HashMap<>();

    private JfrSamples(JfrReader reader, Arguments arguments, long periodNanos) {
        super(reader, arguments);
        this.periodNanos = periodNanos;
    }

    /** Returns the samples of the CPU-time sampler, or else those of all samplers. */
    static List<StackSource.Sample> read(Path file, boolean cpuTime, boolean lines, long periodNanos)
            throws IOException {
        Arguments arguments = new Arguments();
        arguments.cpuTime = cpuTime;
        arguments.threads = true;
        arguments.lines = lines;
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

    /** Reads a copy of a recording that a JVM has written, which the program cannot replace meanwhile. */
    static List<StackSource.Sample> read(
            TargetFiles files, String path, boolean cpuTime, boolean lines, long periodNanos) throws IOException {
        Path copy;
        try {
            copy = Files.createTempFile(TemporaryFolderException.folder(), "taskclock-", ".jfr");
        } catch (IOException e) {
            throw TemporaryFolderException.of(e);
        }
        try {
            files.copyTo(path, copy, MAX_RECORDING_BYTES, TIMEOUT_MILLIS);
            return read(copy, cpuTime, lines, periodNanos);
        } finally {
            Files.delete(copy);
        }
    }

    @Override
    protected void convertChunk() {
        isOfAsyncProfiler = jfr.enums.get("jdk.types.FrameType").containsValue("Kernel");
        collector.forEach(new AggregatedEventVisitor() {
            @Override
            protected void visit(Event event, long count) {
                String thread = jfr.threads.get(event.tid);
                Long javaId = jfr.javaThreads.get(event.tid);
                samples.add(new StackSource.Sample(
                        thread == null ? "" : thread,
                        isOfAsyncProfiler ? event.tid : 0,
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
            int line = args.lines ? stack.locations[i] >>> 16 : 0;
            String frame = getMethodName(stack.methods[i], stack.types[i])
                    + (line == 0 || line == UNKNOWN_LINE ? "" : ":" + line)
                    + suffix(stack.types[i]);
            String known = names.putIfAbsent(frame, frame);
            frames.add(known == null ? frame : known);
        }
        return frames;
    }

    /** Only async-profiler records native code and the kernel. */
    private String suffix(byte type) {
        return switch (type) {
            case Frame.TYPE_INTERPRETED -> "_[0]";
            case Frame.TYPE_INLINED -> "_[i]";
            case Frame.TYPE_KERNEL -> Profile.KERNEL_SUFFIX;
            default -> isOfAsyncProfiler && isNativeFrame(type) ? "" : "_[j]";
        };
    }
}
