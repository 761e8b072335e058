// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

/** Edits the input of the prompt: a search, a filter or an interval. */
final class PromptEditor {
    private PromptEditor() {}

    /** Opens a prompt with initial text. */
    static void open(ViewState view, ViewState.Prompt prompt, String typed) {
        view.prompt = prompt;
        view.typed = typed;
    }

    /** Selects the next match, or opens the search prompt if there is no search text yet. */
    static void findNext(ViewState view, int from) {
        if (view.search.isEmpty()) open(view, ViewState.Prompt.SEARCH, "");
        else if (!view.find(from)) view.message = "Not found: " + view.search;
    }

    /** Handles a key while the prompt is open. */
    static KeyBindings.Action handle(ViewState view, String key) {
        switch (key) {
            case "Escape" -> {
                if (view.prompt == ViewState.Prompt.FILTER) view.filter("");
                view.prompt = ViewState.Prompt.NONE;
                return KeyBindings.Action.NONE;
            }
            case "Enter" -> {
                ViewState.Prompt prompt = view.prompt;
                view.prompt = ViewState.Prompt.NONE;
                return prompt == ViewState.Prompt.INTERVAL ? applyInterval(view) : KeyBindings.Action.NONE;
            }
            case "F3" -> {
                if (view.prompt == ViewState.Prompt.SEARCH) findNext(view, view.selected + 1);
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
        // Search and filter as the user types, as htop does.
        if (view.prompt == ViewState.Prompt.FILTER) view.filter(view.typed);
        if (view.prompt == ViewState.Prompt.SEARCH) {
            view.search = view.typed;
            view.message = view.typed.isEmpty() || view.find(view.selected) ? "" : "Not found: " + view.typed;
        }
        return KeyBindings.Action.NONE;
    }

    private static KeyBindings.Action applyInterval(ViewState view) {
        try {
            double seconds = Double.parseDouble(view.typed.trim().replace(',', '.'));
            if (seconds >= 0.1 && seconds <= 3600) {
                view.intervalSeconds = seconds;
                return KeyBindings.Action.RESCHEDULE;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        view.message = "Interval must be from 0.1 to 3600 seconds: " + view.typed;
        return KeyBindings.Action.NONE;
    }
}
