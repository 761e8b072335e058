// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Replaces the names that a program has chosen for itself, its threads, and its accounts with numbered ones: the same
 * name always with the same one. The names of classes and methods stay, and so do those of the JVM's own threads.
 */
final class Redaction {
    private static final String PROGRAM = "program";

    private final Map<String, String> aliases = new HashMap<>();

    /** Returns the interval with other names, also in the texts of its findings. */
    Interval apply(Interval interval) {
        List<ThreadUsage> threads = interval.threads().stream().map(this::apply).toList();
        List<ThreadUsage> accounts =
                interval.accounts().stream().map(this::apply).toList();
        List<EndedPool> ended = interval.endedPools().stream()
                .map(pool -> new EndedPool(
                        isOfProgram(pool.kind()) ? alias("pool", pool.pool()) : pool.pool(),
                        pool.kind(),
                        pool.threads(),
                        pool.totalNanos(),
                        pool.watchedNanos()))
                .toList();
        return new Interval(
                interval.end(),
                interval.intervalNanos(),
                interval.pid(),
                PROGRAM,
                interval.source(),
                threads,
                interval.totals(),
                interval.findings().stream().map(this::apply).toList(),
                interval.notes(),
                ended,
                accounts);
    }

    private ThreadUsage apply(ThreadUsage usage) {
        if (!isOfProgram(usage.kind())) return usage;
        String prefix = usage.kind() == ThreadKind.ACCOUNT ? "account" : "pool";
        String pool = alias(prefix, usage.pool());
        String name = usage.tid() == 0 ? pool : thread(usage.name());
        String owner = usage.java().owner();
        ThreadUsage.Builder renamed = usage.rename(name, pool);
        return (owner.isEmpty() ? renamed : renamed.java(usage.java().ownedBy(thread(owner)))).build();
    }

    private Finding apply(Finding finding) {
        return new Finding(
                finding.kind(),
                finding.tid(),
                text(finding.text()),
                finding.evidence().stream().map(this::text).toList(),
                finding.earlierNanos());
    }

    /** Returns the other name of a thread of the program. */
    String thread(String name) {
        return alias("thread", name);
    }

    private String alias(String prefix, String name) {
        return aliases.computeIfAbsent(name, key -> prefix + "-" + (aliases.size() + 1));
    }

    private static boolean isOfProgram(ThreadKind kind) {
        return switch (kind) {
            case GC, JIT, VM -> false;
            default -> true;
        };
    }

    /** Replaces all names in a text that are known by now and in quotes, the longest first. */
    String text(String text) {
        String redacted = text;
        List<String> names = aliases.keySet().stream()
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
        for (String name : names) redacted = redacted.replace('"' + name + '"', '"' + aliases.get(name) + '"');
        return redacted;
    }
}
