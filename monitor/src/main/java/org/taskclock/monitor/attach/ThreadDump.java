// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.metrics.ThreadNames;

/** A JVM's thread dump, as {@code jcmd PID Thread.print} prints it. */
public final class ThreadDump {
    /**
     * One thread.
     *
     * @param tid the kernel's thread id in the JVM's pid namespace
     * @param javaId 0 for the JVM's own threads
     * @param carriedId the id of the virtual thread that this thread carries; 0 if none
     * @param owner never unknown
     * @param text all lines of the entry; empty if they were not kept
     */
    public record Entry(int tid, long javaId, String name, long carriedId, ThreadNames.Owner owner, String text) {
        private static final Pattern FRAME = Pattern.compile("\tat ([^(]+)\\((?:[^)\n]*(:\\d+)\\))?");
        private static final Pattern JDK_FRAME = Pattern.compile("^\tat (?:java|javax|jdk|sun|com\\.sun)\\.");
        private static final Pattern TIMER =
                Pattern.compile("at java\\.util\\.(?:TimerThread\\.mainLoop|.*DelayedWorkQueue\\.take)");
        private static final String MOUNTED = "Mounted virtual thread #";
        private static final Pattern ALLOCATED = Pattern.compile(" allocated=\\S+");
        /** The rest of the name of a lambda's class, which differs in each JVM. */
        private static final Pattern LAMBDA = Pattern.compile("(?<=\\$\\$Lambda)[^.]+");

        /** Returns whether this is a carrier that has just unmounted a virtual thread or is about to mount one. */
        public boolean isScheduling() {
            return carriedId == 0 && text.contains("at java.lang.VirtualThread.runContinuation");
        }

        /** Returns the text before the stack. The name at its start may contain any text. */
        public String header() {
            return ThreadDump.header(text);
        }

        /** Returns the innermost frame; empty if there is none. */
        public String topFrame() {
            int at = text.indexOf("\tat ");
            if (at < 0) return "";
            int end = text.indexOf('\n', at);
            return text.substring(at + 1, end < 0 ? text.length() : end);
        }

        /**
         * Returns the innermost frame of the carried virtual thread that is not one of the JDK; empty if unknown. JDKs
         * before 24 do not print it.
         */
        public String mountedSite() {
            int mounted = text.indexOf(MOUNTED);
            if (mounted < 0) return "";
            return text.substring(mounted)
                    .lines()
                    .filter(line ->
                            line.startsWith("\tat ") && !JDK_FRAME.matcher(line).find())
                    .map(line -> line.substring("\tat ".length()))
                    .findFirst()
                    .orElse("");
        }

        /**
         * Returns the methods, outermost first. Those of a virtual thread follow those of its carrier.
         *
         * @param lines whether known lines follow, after a colon
         */
        public List<String> frames(boolean lines) {
            int mounted = Math.max(0, text.indexOf(MOUNTED));
            List<String> frames = new ArrayList<>();
            for (String part : new String[] {text.substring(mounted), text.substring(0, mounted)}) {
                for (Matcher frame = FRAME.matcher(part); frame.find(); )
                    frames.add(LAMBDA.matcher(frame.group(1)).replaceAll("")
                            + (lines && frame.group(2) != null ? frame.group(2) : ""));
            }
            Collections.reverse(frames);
            return frames;
        }

        /** Returns whether the stack of the carried virtual thread is there. JDKs before 24 do not print it. */
        public boolean showsMounted() {
            return carriedId != 0 && text.contains(MOUNTED);
        }

        public boolean isCreatingException() {
            return text.contains("\tat java.lang.Throwable.fillInStackTrace(");
        }

        /** Returns whether the thread sleeps, or waits for a time, other than as the worker of a queue of tasks. */
        public boolean isTimer() {
            // A timer without tasks waits until somebody adds one.
            if (text.contains("java.lang.Thread.State: WAITING")) return false;
            if (text.contains("at java.lang.Thread.sleep")
                    || TIMER.matcher(text).find()) return true;
            int parked = text.indexOf("at java.util.concurrent.locks.LockSupport.parkNanos");
            if (parked < 0) return false;
            int caller = text.indexOf("\tat ", parked);
            return caller >= 0 && !text.startsWith("\tat java.util.concurrent.", caller);
        }

        /** Returns the innermost frame that is not one of the JDK; empty if there is none. */
        public String programFrame() {
            return text.lines()
                    .filter(line ->
                            line.startsWith("\tat ") && !JDK_FRAME.matcher(line).find())
                    .map(line -> line.substring(1))
                    .findFirst()
                    .orElse("");
        }

        /** Returns how much the thread has allocated, and its stack. These are the same while it spins. */
        public String allocatedAndFrames() {
            Matcher allocated = ALLOCATED.matcher(header());
            String frames = text.substring(Math.max(0, text.indexOf("\tat ")));
            return (allocated.find() ? allocated.group() : "") + frames;
        }

        /**
         * Returns how much the thread has allocated, and the frames that called a regular expression; empty if it is in
         * none. These are the same during one match.
         */
        public String allocatedAndRegexCaller() {
            int regex = text.lastIndexOf("\tat java.util.regex.");
            if (regex < 0) return "";
            Matcher allocated = ALLOCATED.matcher(header());
            int caller = text.indexOf('\n', regex);
            return (allocated.find() ? allocated.group() : "") + (caller < 0 ? "" : text.substring(caller));
        }

        public boolean isYielding() {
            return text.contains("at java.lang.Thread.yield") || text.contains("at java.lang.VirtualThread.tryYield");
        }
    }

    // The name may contain any text, also what looks like another entry; only the part after it has a fixed format.
    // The numbers of digits are limited to what an int or a long can hold.
    private static final Pattern HEADER = Pattern.compile(
            "\"(.*)\"(?: #(\\d{1,18}))?(?: \\[(\\d{1,9})\\])?(?: daemon)?(?: prio=-?\\d+)? os_prio=.*", Pattern.DOTALL);
    // Hexadecimal up to JDK 20. Since 21, a carrier with a mounted virtual thread has only the id in brackets.
    private static final Pattern NID = Pattern.compile(" nid=(?:0x([0-9a-f]{1,8})|(\\d{1,9}))(?![0-9a-fx])");
    private static final Pattern CARRYING = Pattern.compile("\\n +Carrying virtual thread #(\\d{1,18})(?!\\d)");

    /** What HotSpot prints after the state of a compiler's thread (JavaThread::print_on). */
    private static final Pattern COMPILER = Pattern.compile("^\n.*\n   (?:No compile task|Compiling: )");

    /** The field of the header that follows the figures, such as {@code cpu=} and {@code elapsed=}. */
    private static final String NEXT_FIELD = " tid=0x";

    /** The address of the last frame, at the end of the header. */
    private static final String NO_FRAMES = " [0x0000000000000000]";

    private static final int PART_LENGTH = 1 << 12;

    /** More than the 1,024 frames of a stack (-XX:MaxJavaStackTraceDepth). The rest is ignored. */
    private static final int MAX_ENTRY_LENGTH = 1 << 17;

    /** What becomes part of the name of a pool is shorter. */
    private static final int MAX_NAME_LENGTH = 1_000;

    /** What an entry takes besides its texts. */
    private static final int ENTRY_BYTES = 200;

    /** The memory of an entry while it grows and is copied, for each character. */
    private static final int ENTRY_FACTOR = 8;

    /** In the order of the dump. */
    private final Map<Integer, Entry> entries = new LinkedHashMap<>();

    /** What comes before the first entry. */
    private final StringBuilder heading = new StringBuilder();

    private final IntPredicate keeps;
    private final boolean keepsText;
    private final long beganAt;
    private long keptBytes;
    private final long takenAt = System.nanoTime();

    private ThreadDump(IntPredicate keeps, boolean keepsText, long beganAt) {
        this.keeps = keeps;
        this.keepsText = keepsText;
        this.beganAt = beganAt;
    }

    public static ThreadDump parse(String text) {
        try {
            return read(new StringReader(text), new ReplyMemory(() -> true), tid -> true, true, System.nanoTime());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Reads a dump. Only one entry needs to be in memory as a whole: an entry starts with a quote at the start of a
     * line; other quotes may be part of a name.
     *
     * @param memory gets what is kept
     * @param keeps the ids of the threads whose entries are kept
     * @param keepsText whether to keep the texts of these
     * @param beganAt the System.nanoTime at which the JVM was asked for it
     */
    static ThreadDump read(Reader in, ReplyMemory memory, IntPredicate keeps, boolean keepsText, long beganAt)
            throws IOException {
        ThreadDump dump = new ThreadDump(keeps, keepsText, beganAt);
        StringBuilder entry = null;
        char last = '\n';
        char[] part = new char[PART_LENGTH];
        for (int length; (length = in.read(part)) >= 0; ) {
            for (int i = 0; i < length; i++) {
                if (part[i] == '"' && last == '\n') {
                    if (entry != null) dump.add(entry.toString());
                    entry = new StringBuilder();
                }
                last = part[i];
                StringBuilder text = entry == null ? dump.heading : entry;
                if (text.length() < MAX_ENTRY_LENGTH) text.append(last);
            }
            memory.set(dump.keptBytes + (entry == null ? 0 : (long) ENTRY_FACTOR * entry.length()));
        }
        if (entry != null) dump.add(entry.toString());
        return dump;
    }

    private void add(String block) {
        String header = header(block);
        Matcher parts = HEADER.matcher(header);
        if (!parts.matches()) return;
        int tid;
        if (parts.group(3) != null) {
            tid = Integer.parseInt(parts.group(3));
        } else {
            Matcher nid = NID.matcher(header);
            // The last match counts, because the name may contain another one.
            int last = -1;
            while (nid.find()) {
                last = nid.group(1) != null
                        ? (int) Long.parseLong(nid.group(1), 16)
                        : (int) Long.parseLong(nid.group(2));
            }
            if (last < 0) return;
            tid = last;
        }
        if (!keeps.test(tid)) return;
        Matcher carrying = CARRYING.matcher(block);
        String name = parts.group(1);
        if (!keepsText && name.length() > MAX_NAME_LENGTH) name = name.substring(0, MAX_NAME_LENGTH);
        String text = keepsText ? block.strip() : "";
        keptBytes += ENTRY_BYTES + 2L * (name.length() + text.length());
        entries.put(
                tid,
                new Entry(
                        tid,
                        parts.group(2) == null ? 0 : Long.parseLong(parts.group(2)),
                        name,
                        carrying.find() ? Long.parseLong(carrying.group(1)) : 0,
                        owner(parts.group(2) != null, header, block),
                        text));
    }

    /** A compiler is a Java thread without frames, or, if it is itself written in Java, with a line of its own. */
    private static ThreadNames.Owner owner(boolean isJava, String header, String block) {
        if (!isJava) return ThreadNames.Owner.JVM;
        boolean isCompiler = COMPILER.matcher(block.substring(header.length())).find();
        return isCompiler || header.endsWith(NO_FRAMES) ? ThreadNames.Owner.FRAMELESS : ThreadNames.Owner.JAVA;
    }

    private static String header(String block) {
        int end = block.indexOf("\n   java.lang.Thread.State");
        // The JVM's own threads and carriers have no state.
        if (end < 0) end = block.indexOf('\n', Math.max(0, block.indexOf(" os_prio=")));
        return end < 0 ? block : block.substring(0, end);
    }

    /** Returns a thread's entry; null if the dump lacks it. */
    public Entry of(int tid) {
        return entries.get(tid);
    }

    /**
     * Returns whether a thread existed when the dump began. If it has no entry, it is not a Java thread: HotSpot
     * creates a thread and adds it to its list under the same lock, which a dump waits for (JVM_StartThread).
     *
     * @param foundAt the System.nanoTime at which the thread was found
     */
    public boolean covers(long foundAt) {
        return beganAt - foundAt > 0;
    }

    /** Returns the System.nanoTime at which the JVM had sent this dump. */
    public long takenAt() {
        return takenAt;
    }

    public Collection<Entry> all() {
        return entries.values();
    }

    /**
     * Returns the dump as text in the JVM's format. The texts of all entries must have been kept.
     *
     * @param figures the fields to add to the header of an entry, each followed by a space
     */
    public String text(Function<Entry, String> figures) {
        StringBuilder text = new StringBuilder(heading.toString().strip()).append('\n');
        for (Entry entry : entries.values()) {
            int end = entry.header().lastIndexOf(NEXT_FIELD) + 1;
            text.append('\n').append(entry.text, 0, end);
            text.append(figures.apply(entry))
                    .append(entry.text, end, entry.text.length())
                    .append('\n');
        }
        return text.toString();
    }
}
