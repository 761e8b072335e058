// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.ThreadUsage;

/** Applies key presses to the view. The keys match those of htop and top where possible. */
final class KeyBindings {
    /** Actions that the view cannot perform itself. */
    enum Action {
        NONE,
        QUIT,
        /** The interval or the pause state has changed. */
        RESCHEDULE,
        STACKS,
        /** Profiles the selected row. */
        PROFILE,
        LIST_JVMS,
        /** Opens the JVM that is selected in the view. */
        OPEN_JVM,
        /** Loads the agent, which the user has confirmed. */
        LOAD_AGENT,
        STEP_BACK,
        STEP_FORWARD,
        JUMP_BACK,
        JUMP_FORWARD,
        PREVIOUS_DIAGNOSIS,
        NEXT_DIAGNOSIS,
        REDRAW,
        SUSPEND
    }

    private KeyBindings() {}

    /**
     * Handles a key.
     *
     * @param page number of lines per page
     */
    static Action handle(ViewState view, String key, int page) {
        if (key.equals("Ctrl-C") || key.equals("F10")) return Action.QUIT;
        if (key.equals("Ctrl-Z")) return Action.SUSPEND;
        if (view.agentOffer.isAsking()) return view.agentOffer.answer(view, key);
        if (view.prompt != ViewState.Prompt.NONE) return PromptEditor.handle(view, key);
        if (!view.ended) view.message = "";
        if (key.equals("Ctrl-L")) return Action.REDRAW;
        return switch (view.page) {
            case TABLE -> table(view, key, page);
            case HELP, FINDINGS, STACKS, PROFILE -> text(view, key, page);
            case SORT -> sort(view, key);
            case COLUMNS -> columns(view, key);
            case JVMS -> jvms(view, key);
            case SECTIONS -> sections(view, key);
        };
    }

    private static Action table(ViewState view, String key, int page) {
        switch (key) {
            case "q" -> {
                return Action.QUIT;
            }
            case "Up", "k", "Ctrl-P" -> view.moveTo(view.selected - 1);
            case "Down", "j", "Ctrl-N" -> view.moveTo(view.selected + 1);
            case "PageUp", "Ctrl-B" -> view.moveTo(view.selected - page);
            case "PageDown", "Ctrl-F" -> view.moveTo(view.selected + page);
            case "Home", "g" -> view.moveTo(0);
            case "End", "G" -> view.moveTo(view.rows.size() - 1);
            case "h", "?", "F1" -> show(view, ViewState.Page.HELP);
            case "D", "F2" -> show(view, ViewState.Page.FINDINGS);
            case "F3", "/" -> PromptEditor.open(view, ViewState.Prompt.SEARCH, "");
            case "n" -> PromptEditor.findNext(view);
            case "F4", "\\" -> PromptEditor.open(view, ViewState.Prompt.FILTER, view.filter());
            case "t", "F5" -> {
                view.groupByPool = !view.groupByPool;
                view.moveTo(0);
                view.rebuild();
            }
            case "F6" -> {
                show(view, ViewState.Page.SORT);
                view.scroll = sortable().indexOf(view.sort);
            }
            case "C" -> {
                view.columnMenu = new ColumnMenu(view);
                show(view, ViewState.Page.COLUMNS);
            }
            case "<", "," -> sortBy(view, neighbor(view.sort, -1));
            case ">", "." -> sortBy(view, neighbor(view.sort, 1));
            case "P" -> sortBy(view, ThreadColumn.CPU);
            case "T" -> sortBy(view, ThreadColumn.TIME);
            case "N" -> sortBy(view, ThreadColumn.TID);
            case "M" -> sortBy(view, ThreadColumn.WAIT);
            case "S" -> sortBy(view, ThreadColumn.SYSTEM);
            case "V" -> sortBy(view, ThreadColumn.VOLUNTARY);
            case "X" -> sortBy(view, ThreadColumn.INVOLUNTARY);
            case "I" -> {
                view.reversed = !view.reversed;
                view.rebuild();
            }
            case "F" -> {
                view.following = !view.following;
                TableModel.Row row = view.selected();
                if (row != null) view.selectedKey = row.key();
                view.message = view.following ? "Following " + CellFormat.sanitize(selectedName(view)) : "";
            }
            case "i" -> {
                view.hideIdle = !view.hideIdle;
                view.rebuild();
            }
            case "K" -> {
                view.hideJvm = !view.hideJvm;
                view.rebuild();
            }
            case "Space" -> {
                TableModel.Row row = view.selected();
                if (row != null && !view.tags.remove(row.key())) view.tags.add(row.key());
                view.moveTo(view.selected + 1);
            }
            case "U" -> view.tags.clear();
            case "+", "=", "Right" -> setExpanded(view, true);
            case "-", "Left" -> setExpanded(view, false);
            case "*" -> toggleAll(view);
            case "Enter" -> {
                return enter(view);
            }
            case "m" -> {
                return view.selected() == null ? Action.NONE : Action.PROFILE;
            }
            case "p", "Z" -> {
                view.paused = !view.paused;
                return Action.RESCHEDULE;
            }
            case "d" -> PromptEditor.open(view, ViewState.Prompt.INTERVAL, "");
            case "1", "2", "3", "4", "5", "6", "7", "8", "9" -> {
                view.intervalSeconds = key.charAt(0) - '0';
                return Action.RESCHEDULE;
            }
            case "c" -> {
                return Action.LIST_JVMS;
            }
            case "R" -> {
                sortBy(view, ThreadColumn.RISE);
                view.moveTo(0);
            }
            case "a" -> view.showNextAccounts();
            case "o" -> show(view, ViewState.Page.SECTIONS);
            case "A" -> view.agentOffer.ask(view);
            default -> {
                return move(key);
            }
        }
        return Action.NONE;
    }

    /** Handles the keys that move through a recording. */
    private static Action move(String key) {
        return switch (key) {
            case "[" -> Action.STEP_BACK;
            case "]" -> Action.STEP_FORWARD;
            case "{" -> Action.JUMP_BACK;
            case "}" -> Action.JUMP_FORWARD;
            case "(" -> Action.PREVIOUS_DIAGNOSIS;
            case ")" -> Action.NEXT_DIAGNOSIS;
            default -> Action.NONE;
        };
    }

    private static String selectedName(ViewState view) {
        TableModel.Row row = view.selected();
        return row == null ? "" : row.thread().name();
    }

    private static void show(ViewState view, ViewState.Page page) {
        view.page = page;
        view.scroll = 0;
    }

    static List<ThreadColumn> sortable() {
        List<ThreadColumn> columns = new ArrayList<>(List.of(ThreadColumn.values()));
        columns.removeIf(column -> !column.isSortable());
        return columns;
    }

    static void sortBy(ViewState view, ThreadColumn column) {
        if (column != view.sort) view.reversed = false;
        view.sort = column;
        view.message = "Sorted by " + column.id;
        view.rebuild();
    }

    private static ThreadColumn neighbor(ThreadColumn column, int step) {
        List<ThreadColumn> columns = sortable();
        return columns.get(Math.floorMod(columns.indexOf(column) + step, columns.size()));
    }

    private static void setExpanded(ViewState view, boolean expand) {
        TableModel.Row row = view.selected();
        if (row == null || !view.showsPools()) return;
        if (row.isPool()) {
            view.setExpanded(row.key(), expand);
        } else if (row.inPool() && !expand) { // collapses the pool that contains it
            int index = view.selected;
            while (!view.rows.get(index).isPool()) index--;
            view.moveTo(index);
            view.setExpanded(view.rows.get(index).key(), false);
        }
    }

    private static void toggleAll(ViewState view) {
        if (view.hasExpanded()) {
            view.collapseAll();
            return;
        }
        for (TableModel.Row row : List.copyOf(view.rows)) {
            if (row.isPool()) view.setExpanded(row.key(), true);
        }
    }

    private static Action enter(ViewState view) {
        TableModel.Row row = view.selected();
        if (row == null) return Action.NONE;
        if (row.isPool()) {
            view.setExpanded(row.key(), !view.isExpanded(row.key()));
            return Action.NONE;
        }
        if (view.showsAccounts()) {
            show(view, ViewState.Page.SECTIONS);
            return Action.NONE;
        }
        return showStacks(view, row.thread());
    }

    private static Action showStacks(ViewState view, ThreadUsage thread) {
        show(view, ViewState.Page.STACKS);
        view.stackThread = thread;
        view.stacks = "";
        return Action.STACKS;
    }

    private static Action text(ViewState view, String key, int page) {
        switch (key) {
            case "q", "Escape", "Enter", "h", "?", "F1", "D", "F2" -> view.page = ViewState.Page.TABLE;
            case "Up", "k" -> view.scroll--;
            case "Down", "j" -> view.scroll++;
            case "PageUp", "Ctrl-B" -> view.scroll -= page;
            case "PageDown", "Ctrl-F", "Space" -> view.scroll += page;
            case "Home", "g" -> view.scroll = 0;
            case "End", "G" -> view.scroll = Integer.MAX_VALUE;
            case "f" -> {
                if (view.page == ViewState.Page.PROFILE) view.profile.toggleFlame();
            }
            case "p", "Z" -> {
                view.paused = !view.paused;
                return Action.RESCHEDULE;
            }
            default -> {
                if (view.page == ViewState.Page.FINDINGS) return move(key);
            }
        }
        return Action.NONE;
    }

    private static Action sort(ViewState view, String key) {
        List<ThreadColumn> columns = sortable();
        menu(view, key, columns.size());
        if (key.equals("Enter")) sortBy(view, columns.get(view.scroll));
        return Action.NONE;
    }

    private static Action columns(ViewState view, String key) {
        view.scroll = view.columnMenu.press(key, view.scroll);
        view.columns = view.columnMenu.columns();
        menu(view, key.equals("C") ? "Escape" : key, view.columnMenu.size());
        return Action.NONE;
    }

    private static Action jvms(ViewState view, String key) {
        menu(view, key, view.jvms.size());
        return key.equals("Enter") && !view.jvms.isEmpty() ? Action.OPEN_JVM : Action.NONE;
    }

    private static Action sections(ViewState view, String key) {
        menu(view, key.equals("o") ? "Escape" : key, view.sections.size());
        if (!key.equals("Enter") || view.sections.isEmpty()) return Action.NONE;
        OpenSections.Row row = view.sections.get(view.scroll);
        ThreadUsage thread = row.thread(view.intervals);
        if (thread != null) return showStacks(view, thread);
        view.message = row.section().tid() > 0
                ? "The thread has ended"
                : "A virtual thread: jcmd " + row.pid() + " Thread.dump_to_file FILE writes its stack";
        return Action.NONE;
    }

    private static void menu(ViewState view, String key, int size) {
        switch (key) {
            case "Up", "k" -> view.scroll--;
            case "Down", "j" -> view.scroll++;
            case "Home", "g" -> view.scroll = 0;
            case "End", "G" -> view.scroll = size - 1;
            case "q", "Escape", "Enter" -> view.page = ViewState.Page.TABLE;
            default -> {}
        }
        view.scroll = Math.max(0, Math.min(view.scroll, size - 1));
    }
}
