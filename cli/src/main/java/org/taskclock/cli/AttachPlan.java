// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The changes that attaching the agent makes to a JVM. */
record AttachPlan(long pid, List<String> changes) {
    private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

    /**
     * Returns the changes for a set of agent options.
     *
     * @param feature the JVM's feature version
     * @throws IllegalArgumentException if the options are not NAME=VALUE
     */
    static AttachPlan of(long pid, int feature, String options) {
        Map<String, String> given = parse(options);
        boolean hasVirtualThreads = feature >= FIRST_WITH_VIRTUAL_THREADS;
        String yield = given.getOrDefault("yield", "pass");
        String virtualYield = given.getOrDefault("virtual-yield", yield.equals("count") ? "count" : "pass");
        boolean accounts = hasVirtualThreads && isOn(given, "vthreads");
        List<String> changes = new ArrayList<>();
        changes.add(
                "loads the agent, two native libraries, and java.lang.TaskClockHooks; opens java.lang to the agent");
        if (isOn(given, "threadmxbean")) changes.add("replaces four native methods of sun.management.ThreadImpl");
        if (hasVirtualThreads && given.getOrDefault("virtual", "spec").equals("mxbean"))
            changes.add("redefines sun.management.ThreadImpl; all compiled code is discarded");
        if (!yield.equals("pass")) changes.add("replaces the native method behind Thread.yield");
        if (accounts || (hasVirtualThreads && !virtualYield.equals("pass"))) {
            changes.add("redefines java.lang.VirtualThread, now or when the first virtual thread is created;"
                    + " all compiled code is discarded");
        }
        if (accounts) changes.add("adds five classes to java.lang, and 40 bytes to each virtual thread");
        String bean = given.getOrDefault("bean", "on");
        if (!bean.equals("off")) {
            changes.add("registers the MXBean org.taskclock:type=TaskClock" + (bean.equals("read") ? ", read-only" : "")
                    + ", once there is a platform MBean server");
        }
        if (isOn(given, "jfr"))
            changes.add("registers three event types, off by default, once Flight Recorder is used");
        changes.add("adds the agent's report to the agent properties, which attaching tools can read");
        if (given.containsKey("summary")) changes.add("writes a summary to " + given.get("summary") + " on exit");
        return new AttachPlan(pid, changes);
    }

    private static Map<String, String> parse(String options) {
        Map<String, String> given = new TreeMap<>();
        for (String option : options.isBlank() ? new String[0] : options.split(",", -1)) {
            int equals = option.indexOf('=');
            if (equals <= 0) throw new IllegalArgumentException("option \"" + option + "\" is not NAME=VALUE");
            given.put(
                    option.substring(0, equals).trim(),
                    option.substring(equals + 1).trim());
        }
        return given;
    }

    private static boolean isOn(Map<String, String> given, String name) {
        return given.getOrDefault(name, "on").equals("on");
    }

    String text() {
        StringBuilder text = new StringBuilder("attaching to " + pid + " does the following:\n");
        for (String change : changes) text.append("- ").append(change).append('\n');
        return text.append("Nothing was changed.\n").toString();
    }
}
