// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The agent's options: {@code name=value,...}, or {@code detach}. An option that is omitted keeps its current value.
 * The default is the first of its possible values.
 */
record Options(boolean detach, Map<String, String> given) {
    static final String THREADMXBEAN = "threadmxbean";
    static final String YIELD = "yield";
    /** The effect of a yield on a virtual thread. */
    static final String VIRTUAL_YIELD = "virtual-yield";
    /** Accounting for virtual threads. */
    static final String VTHREADS = "vthreads";
    /** Whether ThreadMXBean answers for virtual threads too. */
    static final String VIRTUAL = "virtual";

    /** The agent's own MXBean. */
    static final String BEAN = "bean";

    /** Whether the backend rseq-take may be used. Off by default. */
    static final String RSEQ_TAKE = "rseq-take";

    /** The accounts to find in the program. Off by default. */
    static final String ACCOUNTS = "accounts";

    static final String JFR = "jfr";
    /** The directory for the summary at exit; none by default. */
    static final String SUMMARY = "summary";

    /** The features that options control, in the order of their installation. */
    static final List<String> FEATURES =
            List.of(RSEQ_TAKE, VTHREADS, ACCOUNTS, THREADMXBEAN, YIELD, BEAN, JFR, SUMMARY);

    private static final List<String> SWITCH = List.of("on", "off");
    private static final List<String> YIELD_MODES = List.of("pass", "count", "off");
    private static final Map<String, List<String>> VALUES = new TreeMap<>(Map.of(
            THREADMXBEAN,
            SWITCH,
            YIELD,
            YIELD_MODES,
            VIRTUAL_YIELD,
            YIELD_MODES,
            VTHREADS,
            SWITCH,
            VIRTUAL,
            List.of("spec", "mxbean"),
            BEAN,
            List.of("on", "read", "off"),
            JFR,
            SWITCH,
            RSEQ_TAKE,
            List.of("off", "on"),
            ACCOUNTS,
            List.of("off", "endpoint", "topic", "group"),
            SUMMARY,
            List.of()));

    static final Options NONE = new Options(false, Map.of());

    /** Returns these options and the earlier ones that they do not override. */
    Options overriding(Options earlier) {
        Map<String, String> all = new TreeMap<>(earlier.given);
        all.putAll(given);
        return new Options(detach, all);
    }

    /** Parses options. Throws IllegalArgumentException with a message for the user. */
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

    private static void check(String given, String name, String value) {
        String option = given.replaceAll("\\p{Cc}", "?"); // the message is one line
        List<String> values = VALUES.get(name);
        if (values == null) {
            throw new IllegalArgumentException("option \"" + option + "\" is unknown: use "
                    + String.join(", ", VALUES.keySet()) + ", or detach alone");
        }
        if (values.isEmpty()) {
            if (value.isEmpty())
                throw new IllegalArgumentException("option \"" + option + "\": " + name + " requires a directory");
            return;
        }
        if (!isOneOf(values, name, value.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("option \"" + option + "\": " + name + " must be one of "
                    + String.join(", ", values) + (name.equals(ACCOUNTS) ? ", or several joined by +" : ""));
        }
    }

    /** Returns whether a value is valid. Only accounts can have several, without "off". */
    private static boolean isOneOf(List<String> values, String name, String value) {
        if (!name.equals(ACCOUNTS) || value.equals("off")) return values.contains(value);
        return values.subList(1, values.size()).containsAll(List.of(value.split("\\+", -1)));
    }

    /** Returns the mode for virtual threads. {@code yield=count} includes them, but {@code yield=off} does not. */
    String virtualYield() {
        return get(VIRTUAL_YIELD, get(YIELD, "pass").equals("count") ? "count" : "pass");
    }

    /** Returns the value of an option, or the default if it was not given. */
    String get(String name, String defaultValue) {
        return given.getOrDefault(name, defaultValue).toLowerCase(Locale.ROOT);
    }

    /** Returns whether a feature is on that is on by default. */
    boolean isOn(String name) {
        return get(name, "on").equals("on");
    }
}
