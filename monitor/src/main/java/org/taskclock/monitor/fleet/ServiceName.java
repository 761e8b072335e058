// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.TargetText;

/** Finds the name of the service that a JVM runs. */
final class ServiceName {
    private static final String OTEL = "otel";
    private static final String MAIN = "main";
    private static final String JAR = "jar";
    private static final String ENVIRONMENT = "env:";
    private static final String REGEX = "regex:";
    private static final String LAUNCHER = "java";

    private final List<String> rules;

    /**
     * Creates a finder.
     *
     * @param rules otel, main, jar, env:NAME, or regex:PATTERN; the first that gives a name counts, and then otel and
     *     main
     */
    ServiceName(List<String> rules) {
        this.rules = List.copyOf(rules);
        for (String rule : rules) check(rule);
    }

    private static void check(String rule) {
        if (List.of(OTEL, MAIN, JAR).contains(rule)) return;
        if (rule.startsWith(ENVIRONMENT) && rule.length() > ENVIRONMENT.length()) return;
        if (!rule.startsWith(REGEX))
            throw new IllegalArgumentException(
                    "--service " + rule + ": must be otel, main, jar, env:NAME, or regex:PATTERN");
        try {
            Pattern.compile(rule.substring(REGEX.length()));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException("--service " + rule + ": " + e.getDescription());
        }
    }

    /**
     * Returns the name of the service.
     *
     * @param configured the name in the program's configuration of OpenTelemetry; empty if there is none
     */
    String of(long pid, List<String> command, String configured) {
        for (String rule : rules) {
            String name = "";
            if (rule.equals(OTEL)) name = configured;
            else if (rule.equals(MAIN)) name = main(pid);
            else if (rule.equals(JAR)) name = jar(command);
            else if (rule.startsWith(ENVIRONMENT))
                name = JvmProcesses.environmentVariable(pid, rule.substring(ENVIRONMENT.length()));
            else if (rule.startsWith(REGEX)) name = match(rule.substring(REGEX.length()), String.join(" ", command));
            if (!name.isEmpty()) return TargetText.sanitize(name);
        }
        return TargetText.sanitize(configured.isEmpty() ? main(pid) : configured);
    }

    /** Returns the main class or jar; otherwise what OpenTelemetry's conventions want for a service without a name. */
    private static String main(long pid) {
        String name = JvmProcesses.nameOf(pid);
        return List.of(LAUNCHER, "?").contains(name) ? "unknown_service:" + LAUNCHER : name;
    }

    /** Returns the name of the file after -jar, without its directory and ".jar"; empty if there is none. */
    static String jar(List<String> command) {
        int at = command.indexOf("-jar");
        if (at < 0 || at + 1 >= command.size()) return "";
        String path = command.get(at + 1);
        String file = path.substring(path.lastIndexOf('/') + 1);
        return file.endsWith(".jar") ? file.substring(0, file.length() - ".jar".length()) : file;
    }

    /**
     * Returns the first group, or the whole match if there is none; empty if there is no match, or it takes too long.
     */
    static String match(String pattern, String command) {
        try {
            Matcher matcher = Pattern.compile(pattern).matcher(new BoundedText(command));
            if (!matcher.find()) return "";
            String found = matcher.groupCount() == 0 ? matcher.group() : matcher.group(1);
            return found == null ? "" : found;
        } catch (BoundedText.ExhaustedException | StackOverflowError e) {
            return ""; // alternatives within repetitions are recursive
        }
    }
}
