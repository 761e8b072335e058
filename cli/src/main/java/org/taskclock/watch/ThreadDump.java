// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a JVM prints of its threads: {@code jcmd PID Thread.print}. */
final class ThreadDump {
    /**
     * One thread.
     *
     * @param tid the kernel's id, as the JVM sees it
     * @param javaId 0 for the JVM's own
     * @param carrying the id of the virtual thread that it carries; 0 if none
     * @param text all lines
     */
    record Entry(int tid, long javaId, String name, long carrying, String text) {
        /** Whether it is a carrier that has just put a virtual thread aside, or is about to take one. */
        boolean schedules() {
            return carrying == 0 && text.contains("at java.lang.VirtualThread.runContinuation");
        }

        /** The innermost method; empty if there is none. */
        String top() {
            int at = text.indexOf("\tat ");
            if (at < 0) return "";
            int end = text.indexOf('\n', at);
            return text.substring(at + 1, end < 0 ? text.length() : end);
        }

        boolean yields() {
            return text.contains("at java.lang.Thread.yield") || text.contains("at java.lang.VirtualThread.tryYield");
        }
    }

    // The name may hold anything: what stands behind it does not.
    private static final Pattern HEADER = Pattern.compile(
            "\"(.*)\"(?: #(\\d+))?(?: \\[(\\d+)\\])?(?: daemon)?(?: prio=-?\\d+)? os_prio=.*", Pattern.DOTALL);
    // Hexadecimal up to 20. Where a virtual thread is carried there is only the id in brackets, from 21 on.
    private static final Pattern NID = Pattern.compile(" nid=(?:0x([0-9a-f]+)|(\\d+))");
    private static final Pattern CARRYING = Pattern.compile("\\n +Carrying virtual thread #(\\d+)");

    private final Map<Integer, Entry> entries = new HashMap<>();

    private boolean virtualThreads;

    static ThreadDump parse(String text) {
        ThreadDump dump = new ThreadDump();
        int start = text.startsWith("\"") ? 0 : next(text, 0);
        while (start >= 0) {
            int end = next(text, start);
            dump.add(text.substring(start, end < 0 ? text.length() : end));
            start = end;
        }
        return dump;
    }

    /** Where the next thread begins. Blank lines are before it, so a quote within a name does not count. */
    private static int next(String text, int from) {
        int quote = text.indexOf("\n\"", from);
        return quote < 0 ? -1 : quote + 1;
    }

    private void add(String block) {
        int end = block.indexOf("\n   java.lang.Thread.State");
        int line = block.indexOf(" os_prio=");
        int headerEnd = block.indexOf('\n', Math.max(0, line));
        String header = block.substring(0, headerEnd < 0 ? block.length() : headerEnd);
        if (end >= 0 && end < header.length()) header = block.substring(0, end);
        Matcher parts = HEADER.matcher(header);
        if (!parts.matches()) return;
        int tid;
        if (parts.group(3) != null) {
            tid = Integer.parseInt(parts.group(3));
            // Printed by JVMs that have virtual threads, and by no other.
            virtualThreads = true;
        } else {
            Matcher nid = NID.matcher(header);
            // The last one: a name may hold another.
            int found = -1;
            while (nid.find()) {
                found = nid.group(1) != null
                        ? (int) Long.parseLong(nid.group(1), 16)
                        : (int) Long.parseLong(nid.group(2));
            }
            if (found < 0) return;
            tid = found;
        }
        Matcher carrying = CARRYING.matcher(block);
        entries.put(
                tid,
                new Entry(
                        tid,
                        parts.group(2) == null ? 0 : Long.parseLong(parts.group(2)),
                        parts.group(1),
                        carrying.find() ? Long.parseLong(carrying.group(1)) : 0,
                        block.strip()));
    }

    /** Null if it is not in there. */
    Entry of(int tid) {
        return entries.get(tid);
    }

    boolean hasVirtualThreads() {
        return virtualThreads;
    }

    Collection<Entry> all() {
        return entries.values();
    }
}
