// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import one.convert.FlameGraph;

/**
 * Reads the stacks of a file that may be hostile: a JFR recording or collapsed stacks. The file is read in a process of
 * its own, because a parser of JFR recordings can be made to run forever and to take any amount of memory.
 *
 * @param source what was sampled, such as "JFR (jdk.CPUTimeSample)"
 * @param notes what was left out
 */
public record ProfileFile(String source, List<String> notes, CollapsedStacks stacks) {
    private static final String NOTE = "# ";
    private static final String COLLAPSED = "collapsed stacks";
    private static final byte[] JFR = {'F', 'L', 'R', 0};
    private static final long PERIOD_NANOS = Profiler.DEFAULT_PERIOD.toNanos();

    /** Enough for a JFR recording of 246 MB, which takes 3 s. 250 MB of collapsed stacks are read if most are equal. */
    private static final String HEAP = "-Xmx256m";

    private static final int READ = 0;
    private static final int NOT_READ = 3;

    /** Returns how many samples there are; -1 if the counts may have another unit. */
    public long samples() {
        return source.equals(COLLAPSED) ? -1 : stacks.samples();
    }

    /**
     * Reads a file.
     *
     * @param limit how long that may take
     * @throws ProfileException if the file has no stacks; the message is the reason in one line
     */
    public static ProfileFile read(Path file, Duration limit) throws IOException {
        Path output = Files.createTempFile(file.toAbsolutePath().getParent(), file.getFileName() + "-", ".out");
        try {
            ProcessBuilder builder = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            HEAP,
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-XX:-UsePerfData",
                            "-Dfile.encoding=UTF-8",
                            "-cp",
                            classPath(),
                            ProfileFile.class.getName(),
                            file.toString())
                    .redirectOutput(output.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
            int exitCode = run(builder.start(), limit);
            String text = Files.readString(output);
            if (exitCode == NOT_READ) throw new ProfileException(text.strip());
            if (exitCode != READ) throw new ProfileException("it cannot be read: the process that read it has crashed");
            int line = text.indexOf('\n');
            String lines = text.substring(line + 1);
            List<String> notes = lines.lines()
                    .takeWhile(note -> note.startsWith(NOTE))
                    .map(note -> note.substring(NOTE.length()))
                    .toList();
            return new ProfileFile(text.substring(0, line), notes, CollapsedStacks.of(lines));
        } finally {
            Files.deleteIfExists(output);
        }
    }

    private static int run(Process process, Duration limit) throws IOException {
        try {
            process.getOutputStream().close();
            if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) return process.exitValue();
            throw new ProfileException("reading it takes longer than " + limit.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ProfileException("interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }

    /** Returns where our classes and those of the converter are, which are in one jar in the distribution. */
    private static String classPath() {
        return Stream.of(ProfileFile.class, FlameGraph.class)
                .map(ProfileFile::location)
                .distinct()
                .collect(Collectors.joining(":"));
    }

    private static String location(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e); // a URL of a file that was found
        }
    }

    /** Prints the source and the stacks of a file, or the reason why there are none. */
    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        int exitCode = NOT_READ;
        try {
            ProfileFile read = read(Path.of(arguments[0]));
            out.println(read.source);
            for (String note : read.notes) out.println(NOTE + note);
            out.print(read.stacks.text());
            exitCode = READ;
        } catch (ProfileException e) {
            out.println(e.getMessage());
        } catch (IOException e) {
            out.println("it cannot be read: " + e.getMessage());
        } catch (OutOfMemoryError | StackOverflowError e) {
            out.println("reading it takes too much memory");
        }
        out.flush();
        System.exit(exitCode);
    }

    static ProfileFile read(Path file) throws IOException {
        byte[] start = new byte[JFR.length];
        try (InputStream in = Files.newInputStream(file)) {
            if (in.readNBytes(start, 0, start.length) == start.length && Arrays.equals(start, JFR))
                return readJfr(file);
        }
        CollapsedStacks stacks = readCollapsed(file);
        if (stacks.isEmpty() || stacks.ignoredLines() > stacks.size())
            throw new ProfileException("it is neither a recording of taskclock record, nor a JFR recording, nor"
                    + " collapsed stacks, which are lines of frames and a count");
        return of(COLLAPSED, stacks);
    }

    private static ProfileFile of(String source, CollapsedStacks stacks) {
        return new ProfileFile(source, stacks.notes(), stacks);
    }

    private static CollapsedStacks readCollapsed(Path file) throws IOException {
        // Any byte is a character. Names in UTF-8 are decoded only once they are complete.
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            return CollapsedStacks.of(lines.lines()
                    .map(line -> new String(line.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8)));
        }
    }

    private static ProfileFile readJfr(Path file) throws IOException {
        try {
            CollapsedStacks stacks = CollapsedStacks.of(JfrSamples.read(file, true, true, PERIOD_NANOS));
            if (!stacks.isEmpty()) return of("JFR (jdk.CPUTimeSample)", stacks);
            stacks = CollapsedStacks.of(JfrSamples.read(file, false, true, PERIOD_NANOS));
            if (!stacks.isEmpty()) return of("JFR (jdk.ExecutionSample)", stacks);
        } catch (IOException e) {
            throw new ProfileException("it is a damaged JFR recording");
        }
        throw new ProfileException("the JFR recording has no execution or CPU-time samples");
    }
}
