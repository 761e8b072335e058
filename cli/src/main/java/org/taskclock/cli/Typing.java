// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

/** Words that are typed into the last line: what to search, to show, how long to wait. */
final class Typing {
    private Typing() {}

    /** Begins, with some that are there already. */
    static void ask(View view, View.Prompt prompt, String typed) {
        view.prompt = prompt;
        view.typed = typed;
    }

    /** The next line that is searched; asks for what, where nobody has said so. */
    static void next(View view, int from) {
        if (view.search.isEmpty()) ask(view, View.Prompt.SEARCH, "");
        else if (!view.find(from)) view.message = "Not found: " + view.search;
    }

    /** What a key does to what is typed. */
    static Keys.Action press(View view, String key) {
        switch (key) {
            case "Escape" -> {
                if (view.prompt == View.Prompt.FILTER) view.filter("");
                view.prompt = View.Prompt.NONE;
                return Keys.Action.NONE;
            }
            case "Enter" -> {
                View.Prompt prompt = view.prompt;
                view.prompt = View.Prompt.NONE;
                return prompt == View.Prompt.INTERVAL ? interval(view) : Keys.Action.NONE;
            }
            case "F3" -> {
                if (view.prompt == View.Prompt.SEARCH) next(view, view.selected + 1);
                return Keys.Action.NONE;
            }
            case "Backspace" ->
                view.typed = view.typed.isEmpty()
                        ? ""
                        : view.typed.substring(0, view.typed.offsetByCodePoints(view.typed.length(), -1));
            case "Ctrl-U" -> view.typed = "";
            default -> {
                String text = key.equals("Space") ? " " : key;
                if (text.codePointCount(0, text.length()) != 1) return Keys.Action.NONE;
                view.typed += text;
            }
        }
        // Both look at once, as htop does.
        if (view.prompt == View.Prompt.FILTER) view.filter(view.typed);
        if (view.prompt == View.Prompt.SEARCH) {
            view.search = view.typed;
            view.message = view.typed.isEmpty() || view.find(view.selected) ? "" : "Not found: " + view.typed;
        }
        return Keys.Action.NONE;
    }

    private static Keys.Action interval(View view) {
        try {
            double seconds = Double.parseDouble(view.typed.trim().replace(',', '.'));
            if (seconds >= 0.1 && seconds <= 3600) {
                view.intervalSeconds = seconds;
                return Keys.Action.PACE;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        view.message = "Seconds must be from 0.1 to 3600: " + view.typed;
        return Keys.Action.NONE;
    }
}
