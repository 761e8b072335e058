// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.TypeConversionException;

/** Edits the input of the prompt: a search, a filter or an interval. */
final class PromptEditor {
    private PromptEditor() {}

    /** Opens a prompt with initial text. */
    static void open(ViewState view, ViewState.Prompt prompt, String typed) {
        view.prompt = prompt;
        view.typed = typed;
        view.promptError = "";
        view.openedBySearch = "";
    }

    private static void close(ViewState view) {
        if (view.prompt == ViewState.Prompt.SEARCH && !view.promptError.isEmpty()) sayNotFound(view);
        view.prompt = ViewState.Prompt.NONE;
        view.promptError = "";
        view.openedBySearch = "";
    }

    /** Selects the next match, or opens the search prompt if there is no search text yet. */
    static void findNext(ViewState view) {
        view.openedBySearch = "";
        if (view.search.isEmpty()) open(view, ViewState.Prompt.SEARCH, "");
        else if (!ThreadSearch.find(view, true)) sayNotFound(view);
    }

    private static void sayNotFound(ViewState view) {
        if (!view.ended) view.message = "Not found: " + view.search;
    }

    /** Handles a key while the prompt is open. */
    static KeyBindings.Action handle(ViewState view, String key) {
        switch (key) {
            case "Escape" -> {
                if (view.prompt == ViewState.Prompt.FILTER) view.filter("");
                view.promptError = "";
                close(view);
                return KeyBindings.Action.NONE;
            }
            case "Enter" -> {
                return enter(view);
            }
            case "F3" -> {
                if (view.prompt == ViewState.Prompt.SEARCH && !view.typed.isEmpty()) findNext(view);
                return KeyBindings.Action.NONE;
            }
            case "Backspace" ->
                view.typed = view.typed.isEmpty()
                        ? ""
                        : view.typed.substring(0, view.typed.offsetByCodePoints(view.typed.length(), -1));
            case "Ctrl-U" -> view.typed = "";
            default -> {
                String text = key.equals("Space") ? " " : key;
                if (text.codePointCount(0, text.length()) != 1) return KeyBindings.Action.NONE;
                view.typed += text;
            }
        }
        view.promptError = "";
        // Search and filter as the user types, as htop does.
        switch (view.prompt) {
            case FILTER -> applyFilter(view);
            case SEARCH -> applySearch(view);
            case INTERVAL, NONE -> {}
        }
        return KeyBindings.Action.NONE;
    }

    /** Closes the prompt, unless what it contains has been rejected. */
    private static KeyBindings.Action enter(ViewState view) {
        KeyBindings.Action action = KeyBindings.Action.NONE;
        if (view.prompt == ViewState.Prompt.INTERVAL) action = applyInterval(view);
        if (view.promptError.isEmpty() || view.prompt == ViewState.Prompt.SEARCH) close(view);
        return action;
    }

    private static void applySearch(ViewState view) {
        view.search = view.typed;
        if (!view.typed.isEmpty() && !ThreadSearch.find(view, false)) view.promptError = "Not found";
    }

    private static void applyFilter(ViewState view) {
        try {
            Pattern.compile(view.typed);
        } catch (PatternSyntaxException e) {
            view.promptError = "Not applied, invalid expression: " + e.getDescription();
            return;
        }
        view.filter(view.typed);
    }

    private static KeyBindings.Action applyInterval(ViewState view) {
        try {
            String text = view.typed.trim().replace(',', '.');
            double seconds =
                    new UnitConverters.DurationConverter().convert(text).toNanos() / 1e9;
            if (seconds >= ViewState.MIN_INTERVAL_SECONDS && seconds <= ViewState.MAX_INTERVAL_SECONDS) {
                view.intervalSeconds = seconds;
                return KeyBindings.Action.RESCHEDULE;
            }
        } catch (TypeConversionException e) {
            // reported below
        }
        view.promptError = "Not applied: must be from 0.1 to 3600 seconds";
        return KeyBindings.Action.NONE;
    }
}
