// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.taskclock.internal.JdkVersions;

/** The changes that attaching the agent would make to a JVM. */
record AttachPlan(long pid, List<String> changes) {
    private static final List<String> SWITCH = List.of("on", "off");
    private static final List<String> YIELD_MODES = List.of("pass", "count", "off");

    /**
     * The values of each agent option; empty for a path. A dry run loads no agent that could validate them, so they
     * must match org.taskclock.agent.Options.
     */
    private static final Map<String, List<String>> VALUES = new TreeMap<>(Map.of(
            "threadmxbean",
            SWITCH,
            "yield",
            YIELD_MODES,
            "virtual-yield",
            YIELD_MODES,
            "vthreads",
            SWITCH,
            "virtual",
            List.of("spec", "mxbean"),
            "bean",
            List.of("on", "read", "off"),
            "rseq-take",
            List.of("off", "on"),
            "accounts",
            List.of("off", "endpoint", "topic", "group"),
            "jfr",
            SWITCH,
            "summary",
            List.of()));

    /**
     * Parses agent options.
     *
     * @throws IllegalArgumentException if the agent would reject an option
     */
    static Map<String, String> parse(String text) {
        Map<String, String> options = new TreeMap<>();
        if (text.isBlank()) return options;
        for (String option : text.split(",", -1)) {
            int equals = option.indexOf('=');
            String name = (equals < 0 ? option : option.substring(0, equals)).trim();
            String value = equals < 0 ? "" : option.substring(equals + 1).trim();
            List<String> values = VALUES.get(name);
            if (values == null) {
                throw new IllegalArgumentException(
                        "option \"" + option + "\" is unknown: use " + String.join(", ", VALUES.keySet()));
            }
            if (values.isEmpty()) {
                if (value.isEmpty())
                    throw new IllegalArgumentException("option \"" + option + "\": " + name + " requires a directory");
                options.put(name, value);
                continue;
            }
            String mode = value.toLowerCase(Locale.ROOT);
            if (!isOneOf(values, name, mode)) {
                throw new IllegalArgumentException("option \"" + option + "\": " + name + " must be one of "
                        + String.join(", ", values) + (name.equals("accounts") ? ", or several joined by +" : ""));
            }
            options.put(name, mode);
        }
        return options;
    }

    private static boolean isOneOf(List<String> values, String name, String mode) {
        if (!name.equals("accounts") || mode.equals("off")) return values.contains(mode);
        return values.subList(1, values.size()).containsAll(List.of(mode.split("\\+", -1)));
    }

    /**
     * Returns the changes for a set of agent options.
     *
     * @param feature the JVM's feature version
     * @param options the result of {@link #parse}
     */
    static AttachPlan of(long pid, int feature, Map<String, String> options) {
        boolean hasVirtualThreads = feature >= JdkVersions.VIRTUAL_THREADS;
        String yield = options.getOrDefault("yield", "pass");
        String virtualYield = options.getOrDefault("virtual-yield", yield.equals("count") ? "count" : "pass");
        boolean accountsVirtualThreads = hasVirtualThreads && isOn(options, "vthreads");
        List<String> changes = new ArrayList<>();
        changes.add(
                "loads the agent, two native libraries, and java.lang.TaskClockHooks; opens java.lang to the agent");
        if (options.getOrDefault("rseq-take", "off").equals("on"))
            changes.add("replaces the C library's restartable-sequences area of each thread that reads its CPU time,"
                    + " unless other code uses these areas or a better backend works");
        if (isOn(options, "threadmxbean")) changes.add("replaces four native methods of sun.management.ThreadImpl");
        if (hasVirtualThreads && options.getOrDefault("virtual", "spec").equals("mxbean"))
            changes.add("redefines sun.management.ThreadImpl; all compiled code is discarded");
        if (!yield.equals("pass")) changes.add("replaces the native method behind Thread.yield");
        if (accountsVirtualThreads || (hasVirtualThreads && !virtualYield.equals("pass"))) {
            changes.add("redefines java.lang.VirtualThread, now or when the first virtual thread is created;"
                    + " all compiled code is discarded");
        }
        if (accountsVirtualThreads) changes.add("adds five classes to java.lang, and 40 bytes to each virtual thread");
        List<String> accounts = List.of(options.getOrDefault("accounts", "off").split("\\+"));
        if (accounts.contains("endpoint"))
            changes.add("retransforms HttpServlet, four handler adapters of Spring MVC, and the calls of gRPC servers,"
                    + " now and in each class loader that loads them; all compiled code is discarded");
        if (accounts.contains("topic"))
            changes.add("retransforms the listener container of Spring Kafka, in the same way");
        String bean = options.getOrDefault("bean", "on");
        if (!bean.equals("off")) {
            changes.add("registers the MXBean org.taskclock:type=TaskClock" + (bean.equals("read") ? ", read-only" : "")
                    + ", once there is a platform MBean server");
        }
        if (isOn(options, "jfr"))
            changes.add("registers three event types, off by default, once Flight Recorder is used");
        changes.add("adds the agent's report to the agent properties, which attaching tools can read");
        if (options.containsKey("summary")) {
            changes.add("writes a summary to " + options.get("summary") + " on exit");
            changes.add("makes the JVM report each Java thread that ends");
        }
        return new AttachPlan(pid, changes);
    }

    private static boolean isOn(Map<String, String> options, String name) {
        return options.getOrDefault(name, "on").equals("on");
    }

    String text() {
        StringBuilder text = new StringBuilder("attaching to " + pid + " does the following:\n");
        for (String change : changes) text.append("- ").append(change).append('\n');
        return text.append("Nothing was changed.\n").toString();
    }
}
