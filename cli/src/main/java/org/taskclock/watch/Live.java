// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A JVM that runs, as {@link Frames}. */
public final class Live implements Frames {
    private final Sampler sampler;
    private final boolean attach;

    // Of the last time that somebody asked for all JVMs.
    private final Map<Long, Long> usedBefore = new HashMap<>();
    private long askedBefore;

    private Live(Sampler sampler, boolean attach) throws Unwatchable {
        this.sampler = sampler;
        this.attach = attach;
        sampler.next();
    }

    /** Starts the first interval. {@code attach}: whether the JVM may be asked for names and stacks. */
    public static Live of(long pid, boolean attach) throws Unwatchable {
        return new Live(attach ? Sampler.of(pid) : Sampler.withoutAttach(pid), attach);
    }

    @Override
    public Frame next() throws Unwatchable {
        return sampler.next();
    }

    @Override
    public String stacks(Row row) {
        if (row.tid() == 0) return row.name() + ": no thread of its own";
        try {
            return sampler.stacks(row.tid());
        } catch (IOException e) {
            return "No stack: " + e.getMessage();
        }
    }

    @Override
    public List<Jvm> jvms() {
        long now = System.nanoTime();
        List<Jvm> found = new ArrayList<>();
        for (Jvms.Jvm jvm : Jvms.all()) {
            Long before = usedBefore.put(jvm.pid(), jvm.cpuNanos());
            double percent = before == null ? 0 : 100.0 * (jvm.cpuNanos() - before) / Math.max(1, now - askedBefore);
            found.add(new Jvm((int) jvm.pid(), jvm.name(), percent));
        }
        found.sort((a, b) -> Double.compare(b.cpuPercent(), a.cpuPercent()));
        askedBefore = now;
        return found;
    }

    @Override
    public Frames open(int pid) throws Unwatchable {
        return of(pid, attach);
    }

    @Override
    public void close() {
        sampler.close();
    }
}
