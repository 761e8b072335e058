// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;
import org.taskclock.watch.Diagnosis;
import org.taskclock.watch.Row;

/** Draws a view: header, one page, footer. Knows no terminal; no line is wider than it may be. */
final class Layout {
    /** Below so many lines the header is left out but for its first line. */
    private static final int SMALL = 12;

    private static final String KEYS = "F1 Help F2 Why F3 Search F4 Filter F5 Pools F6 Sort q Quit";

    private final View view;
    private final Styles styles;
    private final int width;
    private final int height;
    private final List<AttributedString> lines = new ArrayList<>();

    private Layout(View view, int width, int height) {
        this.view = view;
        this.styles = view.color ? Styles.COLOR : Styles.PLAIN;
        this.width = Math.max(1, width);
        this.height = Math.max(1, height);
    }

    /** As many lines as the screen has. */
    static List<AttributedString> draw(View view, int width, int height) {
        return new Layout(view, width, height).draw();
    }

    /** So many lines of the page can be seen at once. */
    static int page(View view, int height) {
        return Math.max(1, height - header(view, height) - (view.page == View.Page.ROWS ? 1 : 0) - 1);
    }

    private static int header(View view, int height) {
        if (height < 4) return 0;
        return height < SMALL ? 2 : Header.lines(view.frames) + 1; // and the diagnosis
    }

    private List<AttributedString> draw() {
        int header = header(view, height);
        List<Line> top = Header.draw(view, styles, width);
        for (int i = 0; i < header - 1; i++) add(top.get(i));
        if (header > 0) add(verdict());
        int page = page(view, height);
        switch (view.page) {
            case ROWS -> rows(page);
            case HELP -> text(Keys.HELP.lines().toList(), page);
            case DIAGNOSES -> text(diagnoses(), page);
            case STACKS -> text(stacks(), page);
            case SORT -> menu(Keys.sortable().stream().map(Layout::describe).toList(), "Sort by", page);
            case JVMS ->
                menu(
                        view.jvms.stream()
                                .map(jvm -> Cells.right(Integer.toString(jvm.pid()), 8)
                                        + Cells.right(Cells.number(jvm.cpuPercent()), 8)
                                        + " %  "
                                        + Cells.clean(jvm.name()))
                                .toList(),
                        "JVMs: Enter watches",
                        page);
        }
        while (lines.size() < height - 1) add(new Line(styles));
        if (lines.size() > height - 1) lines.subList(height - 1, lines.size()).clear();
        add(footer());
        return lines;
    }

    private void add(Line line) {
        lines.add(line.toAttributed(width));
    }

    private static String describe(Column column) {
        return column.word() + (column.title.isEmpty() ? "" : "  " + column.title);
    }

    /** The most serious of what is wrong, always to be seen. */
    private Line verdict() {
        if (view.ended) return new Line(styles).add(styles.alarm(), Cells.clean(view.message));
        List<Diagnosis> diagnoses = view.diagnoses();
        if (!diagnoses.isEmpty()) {
            String more = diagnoses.size() == 1 ? "" : " (and " + (diagnoses.size() - 1) + " more)";
            String why = more + ", F2: why";
            String text = "! "
                    + Cells.clean(
                            diagnoses.get(0).kind() + ": " + diagnoses.get(0).text());
            int room = Math.max(width / 2, width - why.length());
            return new Line(styles).add(styles.alarm(), Cells.cut(text, room)).add(styles.faint(), why);
        }
        List<String> notes = view.notes();
        String text = view.frames.isEmpty() ? "" : notes.isEmpty() ? "Nothing wrong is seen." : "Note: " + notes.get(0);
        return new Line(styles).add(styles.faint(), Cells.clean(text));
    }

    private List<String> diagnoses() {
        List<String> text = new ArrayList<>();
        for (Diagnosis diagnosis : view.diagnoses()) {
            String thread = diagnosis.tid() == 0 ? "" : " (thread " + diagnosis.tid() + ")";
            wrap(text, "", "! " + diagnosis.kind() + ": " + diagnosis.text() + thread);
            for (String line : diagnosis.evidence()) wrap(text, "    ", line);
            text.add("");
        }
        if (text.isEmpty()) {
            text.add("Nothing wrong is seen in this interval.");
            text.add("");
        }
        for (String note : view.notes()) wrap(text, "", "Note: " + note);
        return text;
    }

    private void wrap(List<String> text, String indent, String line) {
        int room = Math.max(10, width - indent.length());
        StringBuilder out = new StringBuilder();
        for (String word : Cells.clean(line).split(" ", -1)) {
            if (out.length() > 0 && Cells.width(out) + 1 + Cells.width(word) > room) {
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
        Row row = view.stacksOf;
        for (Table.Line line : view.lines) if (line.key().equals(View.key(row))) row = line.row();
        double percent = view.frames.isEmpty() ? -1 : view.frames.get(0).percent(row.cpuNanos());
        text.add(Cells.clean(row.name())
                + (row.tid() == 0 ? "" : ", thread " + row.tid())
                + ": "
                + Cells.number(percent)
                + " % in the last interval");
        text.add("");
        if (view.stacks.isEmpty()) text.add("...");
        view.stacks.lines().forEach(line -> text.add(Cells.clean(line.replace("\t", "    "))));
        return text;
    }

    private void text(List<String> text, int page) {
        view.scroll = Math.max(0, Math.min(view.scroll, text.size() - page));
        for (int i = view.scroll; i < Math.min(text.size(), view.scroll + page); i++) {
            add(new Line(styles).add(text.get(i)));
        }
    }

    private void menu(List<String> items, String title, int page) {
        add(new Line(styles).add(styles.title(), title));
        if (items.isEmpty()) add(new Line(styles).add("None."));
        int room = Math.max(1, page - 1);
        int first = Math.max(0, Math.min(view.scroll - room / 2, items.size() - room));
        for (int i = first; i < Math.min(items.size(), first + room); i++) {
            Line line = new Line(styles);
            if (i == view.scroll) line.add(styles.selected(), Cells.left(items.get(i), width));
            else line.add(items.get(i));
            add(line);
        }
    }

    private void rows(int page) {
        view.top = Math.max(Math.min(view.top, view.selected), view.selected - page + 1);
        view.top = Math.max(0, Math.min(view.top, view.lines.size() - page));
        Rows rows = new Rows(view, styles, width);
        add(rows.titles());
        for (int i = view.top; i < Math.min(view.lines.size(), view.top + page); i++) add(rows.row(i));
        if (view.lines.isEmpty() && !view.frames.isEmpty() && page > 1) {
            add(new Line(styles)
                    .add(styles.faint(), "No thread matches: F4 changes the filter, i and K show hidden ones."));
        }
    }

    private Line footer() {
        Line line = new Line(styles);
        if (view.prompt != View.Prompt.NONE) {
            String note = view.message.isEmpty() ? "" : "   " + view.message;
            return line.add(styles.title(), view.prompt.label + Cells.clean(view.typed) + "_")
                    .add(Cells.clean(note));
        }
        long own = -1;
        long interval = 1;
        for (var frame : view.frames) {
            own = Math.max(own, frame.totals().ownNanos());
            interval = frame.intervalNanos();
        }
        if (own >= 0) line.add(styles.faint(), "taskclock " + Cells.number(100.0 * own / interval) + " %  ");
        if (view.paused) line.add(styles.alarm(), "paused").add("  ");
        if (!view.filter().isEmpty())
            line.add(styles.title(), "filter: " + Cells.clean(view.filter())).add("  ");
        if (view.follow) line.add(styles.title(), "following").add("  ");
        if (view.hideIdle) line.add(styles.title(), "no idle").add("  ");
        if (view.hideJvm) line.add(styles.title(), "no JVM").add("  ");
        if (!view.tags.isEmpty()) line.add(styles.title(), tagged()).add("  ");
        return line.add(view.message.isEmpty() || view.ended ? KEYS : Cells.clean(view.message));
    }

    private String tagged() {
        double percent = 0;
        int threads = 0;
        for (Table.Line line : view.lines) {
            if (!view.tags.contains(line.key())) continue;
            threads++;
            percent += Math.max(0, line.frame().percent(line.row().cpuNanos()));
        }
        return threads + " tagged " + Cells.number(percent) + " %";
    }
}
