// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.taskclock.monitor.JvmProcesses;

/** Finds the name of the service that a JVM runs. */
final class ServiceName {
    private static final String JAR = "jar";
    private static final String ENVIRONMENT = "env:";
    private static final String REGEX = "regex:";

    private final List<String> rules;

    /**
     * Creates a finder.
     *
     * @param rules main, jar, env:NAME, or regex:PATTERN; the first that gives a name counts, and then main
     */
    ServiceName(List<String> rules) throws ExporterException {
        this.rules = List.copyOf(rules);
        for (String rule : rules) check(rule);
    }

    private static void check(String rule) throws ExporterException {
        if (rule.equals("main") || rule.equals(JAR)) return;
        if (rule.startsWith(ENVIRONMENT) && rule.length() > ENVIRONMENT.length()) return;
        if (!rule.startsWith(REGEX))
            throw new ExporterException("--service " + rule + ": must be main, jar, env:NAME, or regex:PATTERN");
        try {
            Pattern.compile(rule.substring(REGEX.length()));
        } catch (PatternSyntaxException e) {
            throw new ExporterException("--service " + rule + ": " + e.getDescription());
        }
    }

    /** Returns the name of the service. */
    String of(long pid) {
        List<String> command = JvmProcesses.command(pid);
        for (String rule : rules) {
            String name = "";
            if (rule.equals(JAR)) name = jar(command);
            else if (rule.startsWith(ENVIRONMENT))
                name = JvmProcesses.environmentVariable(pid, rule.substring(ENVIRONMENT.length()));
            else if (rule.startsWith(REGEX)) name = match(rule.substring(REGEX.length()), String.join(" ", command));
            if (!name.isEmpty()) return Text.sanitize(name);
        }
        return Text.sanitize(JvmProcesses.nameOf(pid));
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
