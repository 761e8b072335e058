// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jline.utils.AttributedString;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.ThreadUsage;

/** Renders the view as lines of text: header, page and footer. */
final class ScreenRenderer {
    /** On screens with fewer lines, the header is reduced to its first line. */
    private static final int FULL_HEADER_HEIGHT = 12;

    private static final String KEYS = "F1 Help F2 Why F3 Search F4 Filter F5 Pools F6 Sort q Quit";

    /** A key in KEYS, with its description. */
    private static final Pattern KEY = Pattern.compile("(F[0-9]+|[a-z]) [A-Z][a-z]+");

    private final ViewState view;
    private final Styles styles;
    private final int width;
    private final int height;
    private final List<AttributedString> lines = new ArrayList<>();

    private ScreenRenderer(ViewState view, int width, int height) {
        this.view = view;
        this.styles = view.color ? Styles.COLOR : Styles.PLAIN;
        this.width = Math.max(1, width);
        this.height = Math.max(1, height);
    }

    /** Renders as many lines as the screen has, none longer than its width. */
    static List<AttributedString> draw(ViewState view, int width, int height) {
        return new ScreenRenderer(view, width, height).draw();
    }

    /** Returns the number of visible lines of the page. */
    static int pageHeight(ViewState view, int height) {
        return Math.max(1, height - pageTop(view, height) - 1);
    }

    private static int headerHeight(ViewState view, int height) {
        if (height < 4) return 0;
        if (height < FULL_HEADER_HEIGHT) return 2;
        return HeaderRenderer.height(view.intervals) + view.agentOffer.height() + 1; // and the finding
    }

    private List<AttributedString> draw() {
        int header = headerHeight(view, height);
        List<StyledLine> top = HeaderRenderer.draw(view, styles, width);
        if (view.agentOffer.height() > 0) top.add(new StyledLine(styles).add(styles.title(), view.agentOffer.line()));
        for (int i = 0; i < header - 1; i++) add(top.get(i));
        int timeline = Timeline.height(view, height);
        if (timeline > 0)
            Timeline.draw(view, styles, width).subList(0, timeline).forEach(this::add);
        if (header > 0) add(finding());
        int page = pageHeight(view, height);
        switch (view.page) {
            case TABLE -> table(page);
            case HELP -> text(HelpPage.TEXT.lines().toList(), page);
            case FINDINGS -> text(findings(), page);
            case STACKS -> text(stacks(), page);
            case PROFILE -> text(profile(), page);
            case SORT ->
                menu(
                        KeyBindings.sortable().stream()
                                .map(ScreenRenderer::describe)
                                .toList(),
                        "Sort by",
                        page);
            case COLUMNS -> {
                add(new TableRenderer(view, styles, width).titles()); // what the table will look like
                menu(view.columnMenu.items(), ColumnMenu.TITLE, page - 1);
            }
            case SECTIONS ->
                menu(view.sections.stream().map(OpenSections.Row::text).toList(), OpenSections.title(view), page);
            case JVMS ->
                menu(
                        view.jvms.stream()
                                .map(jvm -> CellFormat.padLeft(Integer.toString(jvm.pid()), 8)
                                        + CellFormat.padLeft(CellFormat.number(jvm.cpuPercent()), 8)
                                        + " %  "
                                        + CellFormat.sanitize(jvm.name()))
                                .toList(),
                        "JVMs (Enter: watch)",
                        page);
        }
        while (lines.size() < height - 1) add(new StyledLine(styles));
        if (lines.size() > height - 1) lines.subList(height - 1, lines.size()).clear();
        add(footer());
        return lines;
    }

    /** Returns the number of lines above the page. */
    static int pageTop(ViewState view, int height) {
        return headerHeight(view, height) + Timeline.height(view, height) + (view.page == ViewState.Page.TABLE ? 1 : 0);
    }

    static ThreadColumn columnAt(ViewState view, int width, int x) {
        return new TableRenderer(view, Styles.PLAIN, width).columnAt(x);
    }

    static boolean isMarker(ViewState view, int width, TableModel.Row row, int x) {
        return new TableRenderer(view, Styles.PLAIN, width).isMarker(row, x);
    }

    /** Returns the item at a line of a page with a menu, or -1 if there is none. */
    static int itemAt(ViewState view, int height, int line) {
        int items;
        int above = 1; // the title
        switch (view.page) {
            case SORT -> items = KeyBindings.sortable().size();
            case COLUMNS -> {
                items = view.columnMenu.size();
                above = 2;
            }
            case JVMS -> items = view.jvms.size();
            case SECTIONS -> items = view.sections.size();
            default -> {
                return -1;
            }
        }
        int room = Math.max(1, pageHeight(view, height) - above);
        int item = firstItem(view.scroll, items, room) + line - above;
        return line >= above && line < above + room && item < items ? item : -1;
    }

    /** Returns the key that the last line shows at a position, or an empty string if there is none. */
    static String keyAt(ViewState view, int width, int height, int x) {
        String footer = new ScreenRenderer(view, width, height).footer().toString();
        if (!footer.endsWith(KEYS) || x >= width) return "";
        int at = x - (CellFormat.width(footer) - KEYS.length());
        Matcher key = KEY.matcher(KEYS);
        while (key.find()) if (at >= key.start() && at < key.end()) return key.group(1);
        return "";
    }

    private void add(StyledLine line) {
        lines.add(line.toAttributed(width));
    }

    private static String describe(ThreadColumn column) {
        return column.id + (column.title.isEmpty() ? "" : "  " + column.title);
    }

    /** Returns the line with the most severe finding, which is visible on every page. */
    private StyledLine finding() {
        if (view.ended) return new StyledLine(styles).add(styles.alarm(), CellFormat.sanitize(view.message));
        List<Finding> findings = view.findings();
        if (!findings.isEmpty()) {
            String more = findings.size() == 1 ? "" : " (and " + (findings.size() - 1) + " more)";
            String hint = more + ", F2: why";
            String text = "! "
                    + CellFormat.sanitize(
                            findings.get(0).kind() + ": " + findings.get(0).text());
            int room = Math.max(width / 2, width - hint.length());
            return new StyledLine(styles)
                    .add(styles.alarm(), CellFormat.truncate(text, room))
                    .add(styles.faint(), hint);
        }
        List<String> notes = view.notes();
        String text = view.intervals.isEmpty() ? "" : notes.isEmpty() ? "No problems found." : "Note: " + notes.get(0);
        return new StyledLine(styles).add(styles.faint(), CellFormat.sanitize(text));
    }

    private List<String> findings() {
        List<String> text = new ArrayList<>();
        for (Finding finding : view.findings()) {
            String thread = finding.tid() == 0 ? "" : " (thread " + finding.tid() + ")";
            wrap(text, "", "! " + finding.kind() + ": " + finding.text() + thread);
            for (String line : finding.evidence()) wrap(text, "    ", line);
            wrap(text, "  ", (finding.kind().meaning() + " " + finding.kind().action()).trim());
            text.add("");
        }
        if (text.isEmpty()) {
            text.add("No problems found in this interval.");
            text.add("");
        }
        for (String note : view.notes()) wrap(text, "", "Note: " + note);
        for (String note : view.agentOffer.notes()) wrap(text, "", "Note: " + note);
        return text;
    }

    private void wrap(List<String> text, String indent, String line) {
        int room = Math.max(10, width - indent.length());
        StringBuilder out = new StringBuilder();
        for (String word : CellFormat.sanitize(line).split(" ", -1)) {
            if (out.length() > 0 && CellFormat.width(out) + 1 + CellFormat.width(word) > room) {
                text.add(indent + out);
                out.setLength(0);
                out.append("  ");
            }
            out.append(out.toString().isBlank() ? "" : " ").append(word);
        }
        text.add(indent + out);
    }

    private List<String> stacks() {
        List<String> text = new ArrayList<>();
        ThreadUsage thread = view.stackThread;
        Interval interval = null;
        // A filter may hide its row by now.
        for (Interval each : view.intervals) {
            if (each.pid() != thread.pid()) continue;
            String key = thread.key();
            for (ThreadUsage usage : each.threads()) {
                if (!usage.key().equals(key)) continue;
                thread = usage;
                interval = each;
            }
        }
        double percent = interval == null ? -1 : interval.percent(thread.cpuNanos());
        text.add(CellFormat.sanitize(thread.name())
                + (thread.tid() == 0 ? "" : ", thread " + thread.tid())
                + ": "
                + CellFormat.number(percent)
                + " % in the last interval");
        for (String line : JavaStatusText.details(thread.java(), interval)) wrap(text, "", line);
        text.add("");
        if (view.stacks.isEmpty()) text.add("...");
        view.stacks.lines().forEach(line -> text.add(CellFormat.sanitize(line.replace("\t", "    "))));
        return text;
    }

    private List<String> profile() {
        List<String> text = new ArrayList<>();
        for (String line : view.profile.summary()) wrap(text, "", line);
        text.addAll(view.profile.body(width));
        return text;
    }

    private void text(List<String> text, int page) {
        view.scroll = Math.max(0, Math.min(view.scroll, text.size() - page));
        for (int i = view.scroll; i < Math.min(text.size(), view.scroll + page); i++) {
            add(new StyledLine(styles).add(text.get(i)));
        }
    }

    private void menu(List<String> items, String title, int page) {
        add(new StyledLine(styles).add(styles.title(), title));
        if (items.isEmpty()) add(new StyledLine(styles).add("None."));
        int room = Math.max(1, page - 1);
        int first = firstItem(view.scroll, items.size(), room);
        for (int i = first; i < Math.min(items.size(), first + room); i++) {
            StyledLine line = new StyledLine(styles);
            if (i == view.scroll) line.add(styles.selected(), CellFormat.padRight(items.get(i), width));
            else line.add(items.get(i));
            add(line);
        }
    }

    private static int firstItem(int selected, int items, int room) {
        return Math.max(0, Math.min(selected - room / 2, items - room));
    }

    private void table(int page) {
        view.topRow = Math.max(Math.min(view.topRow, view.selected), view.selected - page + 1);
        view.topRow = Math.max(0, Math.min(view.topRow, view.rows.size() - page));
        TableRenderer table = new TableRenderer(view, styles, width);
        view.shownColumns = table.columns();
        add(table.titles());
        for (int i = view.topRow; i < Math.min(view.rows.size(), view.topRow + page); i++) add(table.draw(i));
        if (view.rows.isEmpty() && !view.intervals.isEmpty() && page > 1) {
            add(new StyledLine(styles).add(styles.faint(), CellFormat.sanitize(noRows())));
        }
    }

    private String noRows() {
        if (!view.showsAccounts()) return "No matching threads: F4 changes the filter, i and K show hidden threads.";
        Interval first = view.intervals.get(0);
        if (!view.history.hasAccounts())
            return AccountRows.absence(first, view.isRecording ? "record with --accounts" : "press A");
        return first.accounts().isEmpty()
                ? "The agent has not reported in this interval: d sets a longer one."
                : "No matching accounts: F4 changes the filter, i shows idle accounts.";
    }

    private StyledLine footer() {
        StyledLine line = new StyledLine(styles);
        if (view.agentOffer.isAsking()) return line.add(styles.title(), view.agentOffer.question());
        if (view.prompt != ViewState.Prompt.NONE) {
            if (view.promptError.isEmpty()) {
                String note = view.message.isEmpty() ? "" : "   " + view.message;
                return line.add(styles.title(), view.prompt.label + CellFormat.sanitize(view.typed) + "_")
                        .add(CellFormat.sanitize(note));
            }
            return line.add(styles.title(), view.prompt.label)
                    .add(styles.alarm(), CellFormat.sanitize(view.typed) + "_   " + view.promptError);
        }
        long own = -1;
        long intervalNanos = 1;
        for (var interval : view.intervals) {
            own = Math.max(own, interval.totals().ownNanos());
            intervalNanos = interval.intervalNanos();
        }
        if (own >= 0) line.add(styles.faint(), "taskclock " + CellFormat.number(100.0 * own / intervalNanos) + " %  ");
        if (view.paused) line.add(styles.alarm(), "paused").add("  ");
        if (!view.filter().isEmpty())
            line.add(styles.title(), "filter: " + CellFormat.sanitize(view.filter()))
                    .add("  ");
        if (view.following) line.add(styles.title(), "following").add("  ");
        if (view.hideIdle) line.add(styles.title(), "no idle").add("  ");
        if (view.hideJvm) line.add(styles.title(), "no JVM").add("  ");
        if (!view.tags.isEmpty()) line.add(styles.title(), tagged()).add("  ");
        return line.add(view.message.isEmpty() || view.ended ? KEYS : CellFormat.sanitize(view.message));
    }

    private String tagged() {
        double percent = 0;
        int threads = 0;
        for (TableModel.Row row : view.rows) {
            if (!view.tags.contains(row.key())) continue;
            threads++;
            percent += Math.max(0, row.interval().percent(row.thread().cpuNanos()));
        }
        return threads + " tagged " + CellFormat.number(percent) + " %";
    }
}
