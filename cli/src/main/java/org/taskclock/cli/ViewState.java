// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.monitor.recording.IntervalSummary;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource.Jvm;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.ThreadUsage;

/** The state of the terminal interface, which {@link KeyBindings} changes and {@link ScreenRenderer} draws. */
final class ViewState {
    /** The content of the screen between header and footer. */
    enum Page {
        TABLE,
        HELP,
        FINDINGS,
        STACKS,
        PROFILE,
        SORT,
        COLUMNS,
        JVMS,
        /** The sections of named accounts that have been open longest. */
        SECTIONS
    }

    /** The input prompt in the last line. */
    enum Prompt {
        NONE(""),
        SEARCH("Search: "),
        FILTER("Filter: "),
        INTERVAL("Interval in seconds: ");

        final String label;

        Prompt(String label) {
            this.label = label;
        }
    }

    static final double MIN_INTERVAL_SECONDS = 0.1;
    static final double MAX_INTERVAL_SECONDS = 3600;

    Page page = Page.TABLE;
    Prompt prompt = Prompt.NONE;
    String typed = "";
    /** Why the typed text has not been applied; empty if it has been. */
    String promptError = "";

    ThreadColumn sort = ThreadColumn.CPU;
    boolean reversed;
    private String filter = "";
    private Pattern filterPattern = TableModel.pattern("");
    String search = "";
    /** The pool that the current search has opened; empty if there is none. */
    String openedBySearch = "";

    boolean groupByPool;
    /** The type of the accounts to show instead of threads; empty for the first one, null to show threads. */
    String accountType;

    boolean paused;
    boolean following;
    boolean hideIdle;
    boolean hideJvm;
    boolean color = true;
    /** Whether the terminal can show characters outside ASCII. */
    boolean unicode = true;

    double intervalSeconds = 1;
    /** Maximum number of rows; 0 for all. */
    int limit;

    /** Index of the selected row. */
    int selected;

    String selectedKey = "";
    /** Index of the first visible row. */
    int topRow;

    /** The columns that the user has chosen, in display order, without the name; null to show as many as fit. */
    List<ThreadColumn> columns;
    /** The columns that the table last showed, without the name. */
    List<ThreadColumn> shownColumns = List.of();

    ColumnMenu columnMenu;

    /** The first visible line of a text page, or the selected item of a menu. */
    int scroll;

    List<Interval> intervals = List.of();
    final History history = new History();
    /** The position in the recording; null in a live view. */
    Recording.Position position;
    /** The summaries of the intervals of the recording, as far as they have been read. */
    final List<IntervalSummary> outline = new ArrayList<>();

    List<TableModel.Row> rows = List.of();
    List<Jvm> jvms = List.of();
    List<OpenSections.Row> sections = List.of();
    ThreadUsage stackThread;
    /** Whether the screen shows Java states, locks, or allocation. */
    boolean showsJavaStatus;

    String stacks = "";
    /** The profile that is shown or running; null if there was none. */
    ProfileView profile;

    /** A message in the footer until the next key press, or permanently once the source has ended. */
    String message = "";

    boolean ended;
    boolean isRecording;

    final AgentOffer agentOffer = new AgentOffer();
    final Set<String> tags = new HashSet<>();
    private final Set<String> expanded = new HashSet<>();

    boolean isExpanded(String key) {
        return expanded.contains(key);
    }

    void setExpanded(String key, boolean expand) {
        if (expand) expanded.add(key);
        else expanded.remove(key);
        rebuild();
    }

    boolean hasExpanded() {
        return !expanded.isEmpty();
    }

    void collapseAll() {
        expanded.clear();
        rebuild();
    }

    boolean isVisible(ThreadUsage thread) {
        boolean idle = thread.cpuNanos() <= 0
                && thread.waitNanos() <= 0
                && !thread.java().contended();
        if (hideIdle && idle) return false;
        if (hideJvm) {
            switch (thread.kind()) {
                case GC, JIT, VM, NATIVE -> {
                    return false;
                }
                default -> {}
            }
        }
        return matchesFilter(thread);
    }

    boolean matchesFilter(ThreadUsage thread) {
        return filter.isEmpty() || TableModel.matches(thread, filterPattern);
    }

    /** Returns whether the filter matches all threads of a pool. */
    boolean matchesFilter(String pool) {
        return filter.isEmpty() || filterPattern.matcher(pool).find();
    }

    boolean showsAccounts() {
        return accountType != null;
    }

    boolean showsPools() {
        return groupByPool && !showsAccounts();
    }

    /** Shows the accounts of the next type, or threads after the last type. */
    void showNextAccounts() {
        List<String> types = AccountRows.types(intervals);
        int next = accountType == null ? 0 : types.indexOf(accountType) + 1;
        if (next < types.size()) accountType = types.get(next);
        else accountType = accountType == null ? "" : null;
        if (next + 1 < types.size()) message = "a: accounts of type " + types.get(next + 1);
        moveTo(0);
        rebuild();
    }

    /** Returns what the table shows of an interval. */
    List<ThreadUsage> usages(Interval interval) {
        if (!showsAccounts()) return interval.threads();
        return interval.accounts().stream()
                .filter(account -> AccountRows.type(account).equals(accountType))
                .toList();
    }

    String filter() {
        return filter;
    }

    void filter(String expression) {
        filter = expression;
        filterPattern = TableModel.pattern(expression);
        rebuild();
    }

    /** Shows the stacks of a thread, unless the user has turned to another one. */
    void showStacks(ThreadUsage thread, String text) {
        if (stackThread.key().equals(thread.key())) stacks = text;
    }

    /** Replaces the intervals with the next ones, one for each JVM. */
    void accept(List<Interval> next) {
        intervals = next;
        history.add(intervals);
        rebuild();
    }

    /** Clears the figures that belong to the previous position in a recording. */
    void rewind() {
        history.clear();
    }

    /** Clears what belongs to the previous JVM. */
    void reset() {
        rewind();
        tags.clear();
        expanded.clear();
        openedBySearch = "";
        following = false;
        if (showsAccounts()) accountType = "";
        sections = List.of();
        ended = false;
        paused = false;
        message = "";
        intervals = List.of();
        rebuild();
    }

    /** Selects a thread or a pool, and keeps it selected when the order of rows changes. */
    void follow(String key) {
        following = true;
        selectedKey = key;
        rebuild();
    }

    /** Rebuilds the rows. The selection stays on the same row number, or on the same thread if it is followed. */
    void rebuild() {
        if ("".equals(accountType))
            accountType = AccountRows.types(intervals).stream().findFirst().orElse("");
        rows = TableModel.limit(TableModel.rows(intervals, this), limit);
        if (following) {
            for (int i = 0; i < rows.size(); i++) {
                if (rows.get(i).key().equals(selectedKey)) selected = i;
            }
        }
        select(selected);
    }

    void select(int index) {
        selected = Math.max(0, Math.min(index, rows.size() - 1));
        TableModel.Row row = selected();
        if (row != null && !(following && !selectedKey.isEmpty())) selectedKey = row.key();
    }

    /** Moves the selection and stops following a thread. */
    void moveTo(int index) {
        following = false;
        select(index);
    }

    TableModel.Row selected() {
        return selected < rows.size() ? rows.get(selected) : null;
    }

    /** Replaces the list of JVMs and keeps the selected one selected. */
    void acceptJvms(List<Jvm> found) {
        int pid = scroll < jvms.size() ? jvms.get(scroll).pid() : 0;
        jvms = List.copyOf(found);
        scroll = Math.max(0, Math.min(scroll, jvms.size() - 1));
        for (int i = 0; i < jvms.size(); i++) if (jvms.get(i).pid() == pid) scroll = i;
    }

    /** Returns all findings, the most severe first. */
    List<Finding> findings() {
        List<Finding> all = new ArrayList<>();
        for (Interval interval : intervals) all.addAll(interval.findings());
        all.sort(Comparator.comparing(Finding::kind, FindingKinds.BY_SEVERITY));
        return all;
    }

    List<String> notes() {
        List<String> all = new ArrayList<>();
        for (Interval interval : intervals) all.addAll(interval.notes());
        return all;
    }
}
