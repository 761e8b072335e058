// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Stacks and the number of samples of each, from text that may be hostile: a line is the frames, outermost first and
 * separated by semicolons, and a number. If there are too many to draw, only those with the most samples are kept.
 */
public final class CollapsedStacks {
    /** The maximum length of {@link #text}. */
    public static final int MAX_CHARS = 4 << 20;

    /** The maximum number of boxes in a flame graph. */
    static final int MAX_BOXES = 50_000;

    /** The converter draws boxes recursively. */
    static final int MAX_DEPTH = 1_000;

    static final String DEEPER = "[deeper frames]";

    private static final int MAX_DIGITS = 12;

    private static final Pattern LINES = Pattern.compile("(?<=[^;:]):\\d{1,5}(?=(?:_\\[.\\])?(?:;|$))");

    /** The sum of this many samples of each stack that fits into {@link #MAX_CHARS} does not overflow. */
    private static final long MAX_SAMPLES = 1_000_000_000_000L;

    /**
     * A method.
     *
     * @param self samples in the method itself
     * @param total samples in the method and its callees
     */
    public record Frame(String name, long self, long total) {}

    /**
     * The samples of a method in two profiles, in percent of all samples of each.
     *
     * @param selfA in the method itself, in the first profile
     * @param totalA in the method and its callees, in the first profile
     */
    public record Change(String name, double selfA, double selfB, double totalA, double totalB) {}

    private final Map<String, Long> stacks;
    private final long omittedSamples;
    private final long ignoredLines;
    private final int chars;

    private CollapsedStacks(Map<String, Long> all, long ignoredLines) {
        this.ignoredLines = ignoredLines;
        stacks = new LinkedHashMap<>();
        Set<Long> boxes = new HashSet<>();
        long omitted = 0;
        int length = 0;
        for (Map.Entry<String, Long> stack : all.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .toList()) {
            int line = stack.getKey().length() + MAX_DIGITS + 2;
            if ((long) length + line > MAX_CHARS || boxes.size() > MAX_BOXES) {
                omitted += stack.getValue();
                continue;
            }
            length += line;
            addBoxes(stack.getKey(), boxes);
            stacks.put(stack.getKey(), stack.getValue());
        }
        omittedSamples = omitted;
        chars = length;
    }

    /** Adds the boxes of a stack, which are identified by a hash of their path. */
    private static void addBoxes(String stack, Set<Long> boxes) {
        long path = 1;
        for (int i = 0; i < stack.length(); i++) {
            path = path * 1_000_003 + stack.charAt(i);
            if (i + 1 == stack.length() || stack.charAt(i + 1) == ';') boxes.add(path);
        }
    }

    /** Reads text. Lines that are no stack are counted and left out. */
    public static CollapsedStacks of(String text) {
        return of(text.lines());
    }

    static CollapsedStacks of(Stream<String> lines) {
        Map<String, Long> stacks = new HashMap<>();
        long ignored = lines.filter(line -> !add(line, stacks)).count();
        return new CollapsedStacks(stacks, ignored);
    }

    static CollapsedStacks of(List<StackSource.Sample> samples) {
        Map<String, Long> stacks = new HashMap<>();
        for (StackSource.Sample sample : samples) {
            List<String> frames = sample.frames().isEmpty() ? List.of(Profile.NO_STACK) : sample.frames();
            List<String> names = frames.stream()
                    .map(frame -> frame.replace(';', ',').replace('\n', ' ').replace('\r', ' '))
                    .toList();
            stacks.merge(limited(String.join(";", names)), sample.samples(), CollapsedStacks::sum);
        }
        return new CollapsedStacks(stacks, 0);
    }

    /** Adds a line; returns false if it is not a stack. Empty lines and comments are not counted. */
    private static boolean add(String line, Map<String, Long> stacks) {
        String stripped = line.strip();
        if (stripped.isEmpty() || stripped.startsWith("#")) return true;
        int space = stripped.lastIndexOf(' ');
        int digits = stripped.length() - space - 1;
        if (space <= 0 || digits > MAX_DIGITS) return false;
        for (int i = space + 1; i < stripped.length(); i++)
            if (stripped.charAt(i) < '0' || stripped.charAt(i) > '9') return false;
        long samples = Long.parseLong(stripped, space + 1, stripped.length(), 10);
        if (samples > 0)
            stacks.merge(limited(stripped.substring(0, space).stripTrailing()), samples, CollapsedStacks::sum);
        return true;
    }

    private static long sum(long a, long b) {
        return Math.min(MAX_SAMPLES, a + b);
    }

    private static String limited(String stack) {
        int end = -1;
        for (int depth = 0; depth < MAX_DEPTH; depth++) {
            end = stack.indexOf(';', end + 1);
            if (end < 0) return stack;
        }
        return stack.substring(0, end + 1) + DEEPER;
    }

    public boolean isEmpty() {
        return stacks.isEmpty();
    }

    /** Returns the number of all samples that were kept. */
    public long samples() {
        return stacks.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the maximum length of {@link #text}. */
    public int chars() {
        return chars;
    }

    int size() {
        return stacks.size();
    }

    long ignoredLines() {
        return ignoredLines;
    }

    /** Returns what was left out, one per element. */
    public List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (ignoredLines > 0) notes.add(ignoredLines + " lines that are not stacks were left out");
        if (omittedSamples > 0) {
            long percent = Math.round(100.0 * omittedSamples / (omittedSamples + samples()));
            notes.add("there are too many stacks: rare ones, with " + percent + " % of the total, were left out");
        }
        return notes;
    }

    /** Returns the stacks as lines, those with the most samples first. */
    public String text() {
        StringBuilder text = new StringBuilder();
        stacks.forEach((stack, samples) ->
                text.append(stack).append(' ').append(samples).append('\n'));
        return text.toString();
    }

    /**
     * Returns the same stacks with counts whose sum is that of another profile, so that equal shares have equal counts.
     */
    public CollapsedStacks scaledTo(long samples) {
        Map<String, Long> scaled = new HashMap<>();
        double ratio = (double) samples / samples();
        double before = 0;
        for (Map.Entry<String, Long> stack : stacks.entrySet()) {
            double after = before + stack.getValue() * ratio;
            // Rounding the sums instead of the counts keeps their total.
            long count = Math.round(after) - Math.round(before);
            if (count > 0) scaled.put(stack.getKey(), count);
            before = after;
        }
        return new CollapsedStacks(scaled, 0);
    }

    /** Returns the same stacks without lines, so that those of another build can be compared with them. */
    public CollapsedStacks withoutLines() {
        Map<String, Long> merged = new HashMap<>();
        stacks.forEach(
                (stack, samples) -> merged.merge(LINES.matcher(stack).replaceAll(""), samples, CollapsedStacks::sum));
        return new CollapsedStacks(merged, ignoredLines);
    }

    /**
     * Returns all methods, whatever their lines, those with the most samples of their own first. The first frames of a
     * stack are left out if they are in brackets, because these are a pool and a thread.
     */
    public List<Frame> frames() {
        Map<String, long[]> counts = new HashMap<>();
        stacks.forEach((stack, samples) -> {
            Set<String> seen = new HashSet<>();
            String[] names = stack.split(";", -1);
            int first = 0;
            while (first < names.length - 1 && names[first].startsWith("[")) first++;
            String last = "";
            for (int i = first; i < names.length; i++) {
                last = Profile.method(Profile.name(names[i]));
                // A recursive method counts once.
                if (seen.add(last)) counts.computeIfAbsent(last, name -> new long[2])[1] += samples;
            }
            counts.get(last)[0] += samples;
        });
        List<Frame> frames = new ArrayList<>();
        counts.forEach((name, count) -> frames.add(new Frame(name, count[0], count[1])));
        frames.sort(Comparator.comparingLong(Frame::self)
                .thenComparingLong(Frame::total)
                .reversed()
                .thenComparing(Frame::name));
        return frames;
    }

    /** Compares the shares of all methods, those whose own share changed most first. */
    public static List<Change> compare(CollapsedStacks a, CollapsedStacks b) {
        Map<String, Frame> framesOfA = new HashMap<>();
        for (Frame frame : a.frames()) framesOfA.put(frame.name(), frame);
        List<Change> changes = new ArrayList<>();
        for (Frame frame : b.frames()) changes.add(change(a, framesOfA.remove(frame.name()), b, frame));
        for (Frame frame : framesOfA.values()) changes.add(change(a, frame, b, null));
        changes.sort(Comparator.comparingDouble((Change change) -> Math.abs(change.selfB - change.selfA))
                .thenComparingDouble(change -> Math.abs(change.totalB - change.totalA))
                .reversed()
                .thenComparing(Change::name));
        return changes;
    }

    private static Change change(CollapsedStacks a, Frame inA, CollapsedStacks b, Frame inB) {
        return new Change(
                inA == null ? inB.name() : inA.name(),
                inA == null ? 0 : percent(inA.self(), a),
                inB == null ? 0 : percent(inB.self(), b),
                inA == null ? 0 : percent(inA.total(), a),
                inB == null ? 0 : percent(inB.total(), b));
    }

    private static double percent(long samples, CollapsedStacks all) {
        return Math.round(10_000.0 * samples / all.samples()) / 100.0;
    }
}
