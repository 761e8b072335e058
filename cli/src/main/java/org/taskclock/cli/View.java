// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.taskclock.watch.Diagnosis;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Frames.Jvm;
import org.taskclock.watch.Row;

/** What the user has chosen to see, and what is seen: all that {@link Layout} draws. {@link Keys} changes it. */
final class View {
    /** What fills the screen below the header. */
    enum Page {
        ROWS,
        HELP,
        DIAGNOSES,
        STACKS,
        SORT,
        JVMS
    }

    /** What is being typed, if anything. */
    enum Prompt {
        NONE(""),
        SEARCH("Search: "),
        FILTER("Filter: "),
        INTERVAL("Seconds between two looks: ");

        final String label;

        Prompt(String label) {
            this.label = label;
        }
    }

    /** What hurts all threads, or looks like work and is none, comes before what may be meant. */
    private static final List<String> SERIOUS = List.of("yield-storm", "carrier-monopolised", "throttled", "gc", "jit");

    Page page = Page.ROWS;
    Prompt prompt = Prompt.NONE;
    String typed = "";

    Column sort = Column.CPU;
    boolean inverted;
    private String filter = "";
    private Pattern filterPattern = Table.pattern("");
    String search = "";
    boolean tree;
    boolean paused;
    boolean follow;
    boolean hideIdle;
    boolean hideJvm;
    boolean color = true;
    double intervalSeconds = 1;
    /** Threads at most; 0 for all. */
    int limit;

    /** Index of the line that is selected, and of the first that is seen. */
    int selected;

    int top;
    String selectedKey = "";

    /** In pages of text or menus: the first line, or the chosen one. */
    int scroll;

    List<Frame> frames = List.of();
    List<Table.Line> lines = List.of();
    List<Jvm> jvms = List.of();
    Row stacksOf;
    String stacks = "";

    /** What happened: one line, until the next key; for good if there is no more to come. */
    String message = "";

    boolean ended;
    boolean recorded;

    final Set<String> tags = new HashSet<>();
    private final Set<String> opened = new HashSet<>();
    private Map<String, Double> seconds = new HashMap<>();

    static String key(Row row) {
        return row.pid() + "/" + row.tid() + "/" + (row.tid() == 0 ? row.kind() + row.name() : "");
    }

    double seconds(String key) {
        return seconds.getOrDefault(key, 0.0);
    }

    boolean isOpen(String key) {
        return opened.contains(key);
    }

    void open(String key, boolean open) {
        if (open) opened.add(key);
        else opened.remove(key);
        arrange();
    }

    boolean anyOpen() {
        return !opened.isEmpty();
    }

    void closeAll() {
        opened.clear();
        arrange();
    }

    boolean shows(Row row) {
        if (hideIdle && row.cpuNanos() <= 0 && row.waitNanos() <= 0) return false;
        if (hideJvm) {
            switch (row.kind()) {
                case GC, JIT, VM, NATIVE -> {
                    return false;
                }
                default -> {}
            }
        }
        return filter.isEmpty() || Table.matches(row, filterPattern);
    }

    String filter() {
        return filter;
    }

    void filter(String words) {
        filter = words;
        filterPattern = Table.pattern(words);
        arrange();
    }

    /** Takes the frames of one more interval. */
    void accept(List<Frame> next) {
        frames = next;
        Map<String, Double> sums = new HashMap<>();
        for (Frame frame : frames) {
            for (Row row : frame.rows()) {
                String key = key(row);
                sums.put(key, seconds(key) + Math.max(0, row.cpuNanos()) / 1e9);
            }
        }
        seconds = sums; // those that have gone are forgotten
        arrange();
    }

    /** Another JVM, or another place in a file. */
    void forget() {
        seconds = new HashMap<>();
        tags.clear();
        opened.clear();
    }

    /** Puts the lines in order anew, and keeps the selection where it was: on its line, or on its thread. */
    void arrange() {
        lines = Table.lines(frames, this);
        if (limit > 0 && lines.size() > limit) lines = lines.subList(0, limit);
        if (follow) {
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).key().equals(selectedKey)) selected = i;
            }
        }
        select(selected);
    }

    void select(int index) {
        selected = Math.max(0, Math.min(index, lines.size() - 1));
        Table.Line line = selected();
        if (line != null && !(follow && !selectedKey.isEmpty())) selectedKey = line.key();
    }

    /** Moves the selection, which ends following. */
    void move(int index) {
        follow = false;
        select(index);
    }

    Table.Line selected() {
        return selected < lines.size() ? lines.get(selected) : null;
    }

    /** Selects the next line that has the searched words, from the given one on and round. */
    boolean find(int from) {
        Pattern pattern = Table.pattern(search);
        for (int i = 0; i < lines.size(); i++) {
            int index = Math.floorMod(from + i, lines.size());
            if (Table.matches(lines.get(index).row(), pattern)) {
                move(index);
                return true;
            }
        }
        return false;
    }

    /** What is chosen stays so, wherever it now stands. */
    void acceptJvms(List<Jvm> found) {
        int pid = scroll < jvms.size() ? jvms.get(scroll).pid() : 0;
        jvms = List.copyOf(found);
        for (int i = 0; i < jvms.size(); i++) if (jvms.get(i).pid() == pid) scroll = i;
    }

    /** The most serious first. */
    List<Diagnosis> diagnoses() {
        List<Diagnosis> all = new ArrayList<>();
        for (Frame frame : frames) all.addAll(frame.diagnoses());
        all.sort(Comparator.comparingInt(View::rank));
        return all;
    }

    private static int rank(Diagnosis diagnosis) {
        int rank = SERIOUS.indexOf(diagnosis.kind());
        return rank < 0 ? SERIOUS.size() : rank;
    }

    List<String> notes() {
        List<String> all = new ArrayList<>();
        for (Frame frame : frames) all.addAll(frame.notes());
        return all;
    }
}
