// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.taskclock.TaskClock;

/**
 * What the bean knows of virtual threads and yields, as text for tools on this machine: a line for each thing, with tabs between its
 * parts. The first is {@code taskclock-report 1}, the last tells what CPU time it took. {@code taskclock top} reads it.
 */
public final class Report implements Supplier<String> {
    private static final int MOST_SITES = 20;
    private static final int MOST_YIELDERS = 200;

    private final Agency agency;
    private final Hooks hooks;
    private boolean defined;

    Report(Agency agency, Hooks hooks) {
        this.agency = agency;
        this.hooks = hooks;
    }

    void install(AgentLoader loader) throws Refused {
        if (!defined) {
            try {
                Hooks.define(loader.jvm, Thread.class, "java.lang.TaskClockReport");
            } catch (IllegalAccessException | IOException | LinkageError e) {
                throw new Refused("cannot define the report in java.lang: " + e, e);
            }
            defined = true;
        }
        Refused.unlessNull((String) hooks.call("setReport", this));
    }

    void remove() {
        if (defined) hooks.call("setReport", (Object) null);
    }

    @Override
    public String get() {
        long start = TaskClock.cpuNanos();
        StringBuilder text = new StringBuilder("taskclock-report 1\n");
        if (agency.accounts().isInstalled()) {
            for (VirtualAccounts.Group g : agency.accounts().groups()) {
                line(text, "virtual", plain(g.name()), g.live(), g.ended(), g.cpuNanos(), g.userNanos());
            }
            for (VirtualAccounts.Carrier c : agency.accounts().carriers())
                line(text, "carrier", c.tid(), c.cpuNanos(), c.userNanos(), c.carriedNanos(), c.carriedUserNanos());
        }
        line(text, "mode", agency.yields().mode());
        if (agency.yields().mode() == Yields.Mode.COUNT) yields(text);
        line(text, "took", TaskClock.cpuNanos() - start);
        return text.toString();
    }

    private void yields(StringBuilder text) {
        List<YieldCounts.Yielder> yielders = agency.yields().yielders();
        long own = 0;
        long virtual = 0;
        for (YieldCounts.Yielder y : yielders) {
            own += y.yields();
            virtual += y.virtualYields();
        }
        line(text, "yields", own, virtual);
        yielders.stream()
                .filter(y -> y.tid() != 0)
                .limit(MOST_YIELDERS)
                .forEach(y -> line(text, "yielder", y.tid(), y.yields(), y.virtualYields()));
        agency.yields().counts().sites().stream()
                .sorted(Comparator.comparingLong(YieldCounts.Site::yields).reversed())
                .limit(MOST_SITES)
                .forEach(s -> line(text, "site", plain(s.name()), s.yields()));
    }

    private static void line(StringBuilder text, Object... parts) {
        for (int i = 0; i < parts.length; i++) text.append(i == 0 ? "" : "\t").append(parts[i]);
        text.append('\n');
    }

    /** A name may hold anything. */
    private static String plain(String name) {
        StringBuilder plain = new StringBuilder(name);
        for (int i = 0; i < plain.length(); i++) if (plain.charAt(i) < ' ') plain.setCharAt(i, ' ');
        return plain.toString();
    }
}
