// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the agent was told: {@code name=value,...}, or {@code detach}. What is not named stays as it is, or is the first of
 * its values.
 */
record Options(boolean detach, Map<String, String> given) {
    static final String TIMES = "threadmxbean";
    static final String YIELD = "yield";
    /** What a yield of a virtual thread does. */
    static final String VIRTUAL_YIELD = "virtual-yield";
    /** Accounting for virtual threads. */
    static final String ACCOUNTS = "vthreads";
    /** Whether ThreadMXBean answers for virtual threads too. */
    static final String VIRTUAL = "virtual";

    /** The agent's own MXBean. */
    static final String BEAN = "bean";

    static final String RECORDER = "jfr";
    /** A folder for what was used by the end of the process; none unless one is named. */
    static final String SUMMARY = "summary";

    /** In the order in which they are installed. */
    static final List<String> PARTS = List.of(ACCOUNTS, TIMES, YIELD, BEAN, RECORDER, SUMMARY);

    private static final List<String> SWITCH = List.of("on", "off");
    private static final List<String> YIELD_MODES = List.of("pass", "count", "off");
    private static final Map<String, List<String>> VALUES = new TreeMap<>(Map.of(
            TIMES, SWITCH,
            YIELD, YIELD_MODES,
            VIRTUAL_YIELD, YIELD_MODES,
            ACCOUNTS, SWITCH,
            VIRTUAL, List.of("spec", "mxbean"),
            BEAN, List.of("on", "read", "off"),
            RECORDER, SWITCH,
            SUMMARY, List.of()));

    static final Options NONE = new Options(false, Map.of());

    /** These, and what was told earlier where they say nothing. */
    Options over(Options earlier) {
        Map<String, String> all = new TreeMap<>(earlier.given);
        all.putAll(given);
        return new Options(detach, all);
    }

    /** Reads options; throws IllegalArgumentException, whose message tells the user what is wrong. */
    static Options parse(String text) {
        if (text == null || text.isBlank()) return NONE;
        if (text.trim().equals("detach")) return new Options(true, Map.of());
        Map<String, String> given = new TreeMap<>();
        for (String option : text.split(",", -1)) {
            int equals = option.indexOf('=');
            String name = (equals < 0 ? option : option.substring(0, equals)).trim();
            String value = equals < 0 ? "" : option.substring(equals + 1).trim();
            check(option, name, value);
            given.put(name, value);
        }
        return new Options(false, given);
    }

    private static void check(String option, String name, String value) {
        List<String> values = VALUES.get(name);
        if (values == null) {
            throw new IllegalArgumentException("option \"" + option + "\" is unknown; there are "
                    + String.join(", ", VALUES.keySet()) + ", and detach alone");
        }
        if (values.isEmpty()) {
            if (value.isEmpty())
                throw new IllegalArgumentException("option \"" + option + "\": " + name + " is a folder");
            return;
        }
        if (!values.contains(value.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                    "option \"" + option + "\": " + name + " is one of " + String.join(", ", values));
        }
    }

    /** The yields of virtual threads are counted with the others, but only silenced if that is asked for by name. */
    String virtualYield() {
        return get(VIRTUAL_YIELD, get(YIELD, "pass").equals("count") ? "count" : "pass");
    }

    /** The value of an option; {@code otherwise} if it was not given. */
    String get(String name, String otherwise) {
        return given.getOrDefault(name, otherwise).toLowerCase(Locale.ROOT);
    }

    /** Whether a part is wanted: all are that were not switched off. */
    boolean isOn(String name) {
        return get(name, "on").equals("on");
    }
}
