// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

/** What the agent tells the command line, as org.taskclock.agent.Report writes it. Times in ns. */
public record AgentReport(
        String version,
        long pid,
        String java,
        String command,
        long elapsedNanos,
        long cpuNanos,
        long userNanos,
        List<Pool> pools,
        List<Group> virtualThreads,
        List<Carrier> carriers,
        String yieldMode,
        long platformYields,
        long virtualYields,
        long platformYieldNanos,
        List<Yielder> yielders,
        List<Site> yieldSites,
        Health health,
        boolean overflown,
        long reportNanos) {
    /** Where it is among the properties that a JVM hands out to those that attach. */
    private static final String PROPERTY = "taskclock.report";

    /** An agent is there, and says what this version does not know. */
    public static final class Unreadable extends IOException {
        private static final long serialVersionUID = 1;

        Unreadable(Throwable cause) {
            super(
                    "what the agent in it says cannot be read: it is of another version;"
                            + " detach it with the taskclock that attached it",
                    cause);
        }
    }

    public record Pool(String name, String example, boolean java, int threads, long cpuNanos, long userNanos) {}

    public record Group(String name, long live, long ended, long cpuNanos, long userNanos) {}

    /** A thread that carried virtual threads: what it used in all, and what of that they did. */
    public record Carrier(long tid, long cpuNanos, long userNanos, long carriedNanos, long carriedUserNanos) {}

    /** Whether the agent does what it was asked to do; {@code lastFailure} is null if nothing failed. */
    public record Health(
            List<Part> parts, long mounts, long stacks, int failures, String lastFailure, long memoryBytes) {
        /** One part; {@code problem} is null if it is in the state that was asked for. */
        public record Part(String name, String state, String problem) {}
    }

    /** A thread that lives and yielded, or virtual threads on it. */
    public record Yielder(int tid, long yields) {}

    public record Site(long yields, long virtualYields, List<String> stack) {
        /** The caller of yield. */
        public String name() {
            return stack.isEmpty() ? "(other)" : stack.get(0);
        }
    }

    /** What the carriers used beside running virtual threads. */
    public long schedulingNanos() {
        return carriers.stream().mapToLong(c -> c.cpuNanos - c.carriedNanos).sum();
    }

    long schedulingUserNanos() {
        return carriers.stream()
                .mapToLong(c -> c.userNanos - c.carriedUserNanos)
                .sum();
    }

    /** Asks a running JVM. Returns null if there is no agent in it. */
    public static AgentReport ask(JvmSocket jvm, long timeoutMillis) throws IOException {
        Properties properties = askOnce(jvm, timeoutMillis);
        // Another tool may have deleted the file that we have in common.
        if (!properties.containsKey(PROPERTY)) properties = askOnce(jvm, timeoutMillis);
        String report = properties.getProperty(PROPERTY, "");
        return report.isEmpty() ? null : parse(report);
    }

    private static Properties askOnce(JvmSocket jvm, long timeoutMillis) throws IOException {
        Path request = jvm.reportRequest();
        try {
            create(request);
            Properties properties = new Properties();
            properties.load(new StringReader(jvm.ask(timeoutMillis, "agentProperties")));
            return properties;
        } catch (IllegalArgumentException e) {
            throw new IOException("its properties cannot be read: " + e.getMessage(), e);
        } finally {
            delete(request);
        }
    }

    private static void create(Path request) {
        try {
            Files.createFile(request);
        } catch (IOException e) {
            return; // another tool wants it too; or it cannot be had, and then there is no report
        }
    }

    private static void delete(Path request) {
        try {
            Files.deleteIfExists(request);
        } catch (IOException e) {
            return; // another user's tool wants it too, or left it there
        }
    }

    /** Throws where it is not as this version writes it. */
    public static AgentReport parse(String json) throws Unreadable {
        try {
            AgentReport report = new Gson().fromJson(json, AgentReport.class);
            if (report != null && report.isWhole()) return report;
        } catch (JsonParseException e) {
            throw new Unreadable(e);
        }
        throw new Unreadable(null);
    }

    private boolean isWhole() {
        return pools != null
                && virtualThreads != null
                && carriers != null
                && yieldMode != null
                && yielders != null
                && health != null
                && health.parts != null
                && yieldSites != null;
    }
}
