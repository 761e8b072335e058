// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;

/** What a key does to the view. Keys are those of htop and top, where those have one for it. */
final class Keys {
    /** What the view cannot do alone. */
    enum Action {
        NONE,
        QUIT,
        /** The interval has changed, or pausing. */
        PACE,
        STACKS,
        LIST_JVMS,
        /** The one that is chosen in the view. */
        OPEN_JVM,
        BACK,
        ON,
        FAR_BACK,
        FAR_ON,
        REDRAW,
        SUSPEND
    }

    static final String HELP = """
            Up Down PgUp PgDn Home End   select a line
            Enter      stacks of the thread; opens or closes a pool
            F2 D       what is wrong, and on what evidence
            F3 /       search, n the next          F4 \\   filter (regular expression)
            F5 t       by pool: + - open and close a pool, * all
            F6 < >     sort by                     I      the other way round
            P cpu      T time since the start      N tid  M wait  S system
            V voluntary switches                   X      involuntary switches
            F          follow the thread           i      hide idle threads
            K          hide threads of the JVM     Space  tag   U  no tags
            p Z        pause                       d 1-9  seconds between two looks
            c          another JVM                 [ ] { } back and on in a recording
            q F10      quit                        Ctrl-L draw anew

            CPU%   user + system; 100 % is one processor for the whole interval
            LIM%   the same of all that the container may use
            WAIT%  could have run, but had no processor
            VOL/s  switches to another thread because it waited
            INV/s  switches because its time was up, or it yielded
            TIME   CPU time since watching began
            S      R running, S sleeping, D in the kernel, T stopped
            Bars: | user, # system; in the table a full one is one processor.
            ~ behind a name: cut to 15 characters, as the kernel has it.
            * before a name: tagged.
            """;

    private Keys() {}

    /** @param page so many lines make a page */
    static Action press(View view, String key, int page) {
        if (key.equals("Ctrl-C") || key.equals("F10")) return Action.QUIT;
        if (key.equals("Ctrl-Z")) return Action.SUSPEND;
        if (view.prompt != View.Prompt.NONE) return Typing.press(view, key);
        if (!view.ended) view.message = "";
        if (key.equals("Ctrl-L")) return Action.REDRAW;
        return switch (view.page) {
            case ROWS -> rows(view, key, page);
            case HELP, DIAGNOSES, STACKS -> text(view, key, page);
            case SORT -> sort(view, key);
            case JVMS -> jvms(view, key);
        };
    }

    private static Action rows(View view, String key, int page) {
        switch (key) {
            case "q" -> {
                return Action.QUIT;
            }
            case "Up", "k", "Ctrl-P" -> view.move(view.selected - 1);
            case "Down", "j", "Ctrl-N" -> view.move(view.selected + 1);
            case "PageUp", "Ctrl-B" -> view.move(view.selected - page);
            case "PageDown", "Ctrl-F" -> view.move(view.selected + page);
            case "Home", "g" -> view.move(0);
            case "End", "G" -> view.move(view.lines.size() - 1);
            case "h", "?", "F1" -> show(view, View.Page.HELP);
            case "D", "F2" -> show(view, View.Page.DIAGNOSES);
            case "F3", "/" -> Typing.ask(view, View.Prompt.SEARCH, "");
            case "n" -> Typing.next(view, view.selected + 1);
            case "F4", "\\" -> Typing.ask(view, View.Prompt.FILTER, view.filter());
            case "t", "F5" -> {
                view.tree = !view.tree;
                view.move(0);
                view.arrange();
            }
            case "F6" -> {
                show(view, View.Page.SORT);
                view.scroll = sortable().indexOf(view.sort);
            }
            case "<", "," -> sortBy(view, sideways(view.sort, -1));
            case ">", "." -> sortBy(view, sideways(view.sort, 1));
            case "P" -> sortBy(view, Column.CPU);
            case "T" -> sortBy(view, Column.TIME);
            case "N" -> sortBy(view, Column.TID);
            case "M" -> sortBy(view, Column.WAIT);
            case "S" -> sortBy(view, Column.SYSTEM);
            case "V" -> sortBy(view, Column.VOLUNTARY);
            case "X" -> sortBy(view, Column.INVOLUNTARY);
            case "I" -> {
                view.inverted = !view.inverted;
                view.arrange();
            }
            case "F" -> {
                view.follow = !view.follow;
                Table.Line line = view.selected();
                if (line != null) view.selectedKey = line.key();
                view.message = view.follow ? "Following " + Cells.clean(name(view)) : "";
            }
            case "i" -> {
                view.hideIdle = !view.hideIdle;
                view.arrange();
            }
            case "K" -> {
                view.hideJvm = !view.hideJvm;
                view.arrange();
            }
            case "Space" -> {
                Table.Line line = view.selected();
                if (line != null && !view.tags.remove(line.key())) view.tags.add(line.key());
                view.move(view.selected + 1);
            }
            case "U" -> view.tags.clear();
            case "+", "=", "Right" -> open(view, true);
            case "-", "Left" -> open(view, false);
            case "*" -> openAll(view);
            case "Enter" -> {
                return enter(view);
            }
            case "p", "Z" -> {
                view.paused = !view.paused;
                return Action.PACE;
            }
            case "d" -> Typing.ask(view, View.Prompt.INTERVAL, "");
            case "1", "2", "3", "4", "5", "6", "7", "8", "9" -> {
                view.intervalSeconds = key.charAt(0) - '0';
                return Action.PACE;
            }
            case "c" -> {
                return Action.LIST_JVMS;
            }
            case "[" -> {
                return Action.BACK;
            }
            case "]" -> {
                return Action.ON;
            }
            case "{" -> {
                return Action.FAR_BACK;
            }
            case "}" -> {
                return Action.FAR_ON;
            }
            default -> {}
        }
        return Action.NONE;
    }

    private static String name(View view) {
        Table.Line line = view.selected();
        return line == null ? "" : line.row().name();
    }

    private static void show(View view, View.Page page) {
        view.page = page;
        view.scroll = 0;
    }

    static List<Column> sortable() {
        List<Column> columns = new ArrayList<>(List.of(Column.values()));
        columns.removeIf(column -> !column.sortable());
        return columns;
    }

    private static void sortBy(View view, Column column) {
        view.sort = column;
        view.message = "Sorted by " + column.word();
        view.arrange();
    }

    private static Column sideways(Column column, int step) {
        List<Column> columns = sortable();
        return columns.get(Math.floorMod(columns.indexOf(column) + step, columns.size()));
    }

    private static void open(View view, boolean open) {
        Table.Line line = view.selected();
        if (line == null || !view.tree) return;
        if (line.isPool()) {
            view.open(line.key(), open);
        } else if (line.inside() && !open) { // closes the pool around it
            int index = view.selected;
            while (!view.lines.get(index).isPool()) index--;
            view.move(index);
            view.open(view.lines.get(index).key(), false);
        }
    }

    private static void openAll(View view) {
        if (view.anyOpen()) {
            view.closeAll();
            return;
        }
        for (Table.Line line : List.copyOf(view.lines)) {
            if (line.isPool()) view.open(line.key(), true);
        }
    }

    private static Action enter(View view) {
        Table.Line line = view.selected();
        if (line == null) return Action.NONE;
        if (line.isPool()) {
            view.open(line.key(), !view.isOpen(line.key()));
            return Action.NONE;
        }
        show(view, View.Page.STACKS);
        view.stacksOf = line.row();
        view.stacks = "";
        return Action.STACKS;
    }

    private static Action text(View view, String key, int page) {
        switch (key) {
            case "q", "Escape", "Enter", "h", "?", "F1", "D", "F2" -> view.page = View.Page.ROWS;
            case "Up", "k" -> view.scroll--;
            case "Down", "j" -> view.scroll++;
            case "PageUp", "Ctrl-B" -> view.scroll -= page;
            case "PageDown", "Ctrl-F", "Space" -> view.scroll += page;
            case "Home", "g" -> view.scroll = 0;
            case "End", "G" -> view.scroll = Integer.MAX_VALUE;
            case "p", "Z" -> {
                view.paused = !view.paused;
                return Action.PACE;
            }
            default -> {}
        }
        return Action.NONE;
    }

    private static Action sort(View view, String key) {
        List<Column> columns = sortable();
        menu(view, key, columns.size());
        if (key.equals("Enter")) sortBy(view, columns.get(view.scroll));
        return Action.NONE;
    }

    private static Action jvms(View view, String key) {
        menu(view, key, view.jvms.size());
        return key.equals("Enter") && !view.jvms.isEmpty() ? Action.OPEN_JVM : Action.NONE;
    }

    private static void menu(View view, String key, int size) {
        switch (key) {
            case "Up", "k" -> view.scroll--;
            case "Down", "j" -> view.scroll++;
            case "Home", "g" -> view.scroll = 0;
            case "End", "G" -> view.scroll = size - 1;
            case "q", "Escape", "Enter" -> view.page = View.Page.ROWS;
            default -> {}
        }
        view.scroll = Math.max(0, Math.min(view.scroll, size - 1));
    }
}
