// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.taskclock.CpuTime;
import org.taskclock.ProcessClock;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;
import org.taskclock.watch.Sampler;

/** Watches the JVMs among the descendants of a process from outside, for those that will leave no account of their own. */
final class Observer {
    private static final Duration LOOK = Duration.ofMillis(250);
    /** Threads are looked at each second time. */
    private static final int LOOKS_OF_AN_INTERVAL = 2;

    /** One JVM. */
    private static final class Watched {
        final Sampler sampler;
        final Map<String, Usage.Pool> pools = new HashMap<>();
        CpuTime total = new CpuTime(0, 0, 0);
        boolean ended;

        Watched(Sampler sampler) {
            this.sampler = sampler;
        }

        void add(Frame frame) {
            for (Row row : frame.rows()) {
                if (row.kind() == Row.Kind.VIRTUAL || row.cpuNanos() < 0) continue;
                Usage.Pool more = new Usage.Pool(
                        row.pool(), row.kind(), row.threads(), row.cpuNanos(), Math.max(0, row.userNanos()));
                pools.merge(
                        row.pool(),
                        more,
                        (a, b) -> new Usage.Pool(
                                a.name(),
                                a.kind(),
                                Math.max(a.threads(), b.threads()),
                                a.cpuNanos() + b.cpuNanos(),
                                a.userNanos() + b.userNanos()));
            }
        }
    }

    private final ProcessHandle root;
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread thread = new Thread(this::watch, "taskclock-observer");
    private final Map<Long, Watched> jvms = new LinkedHashMap<>();

    Observer(ProcessHandle root) {
        this.root = root;
        thread.setDaemon(true);
        thread.start();
    }

    private void watch() {
        try {
            for (int look = 0; !over.await(LOOK.toNanos(), TimeUnit.NANOSECONDS); look++) {
                find();
                if (look % LOOKS_OF_AN_INTERVAL == 0) sample();
            }
        } catch (InterruptedException e) {
            return; // nobody waits for the rest
        }
    }

    private void find() {
        find(root);
        root.descendants().forEach(this::find);
    }

    private void find(ProcessHandle process) {
        long pid = process.pid();
        if (jvms.containsKey(pid)) {
            CpuTime now = ProcessClock.of(pid).now();
            if (now.isKnown()) jvms.get(pid).total = now;
            return;
        }
        try {
            if (!Files.readString(Path.of("/proc/" + pid + "/maps")).contains("libjvm.so")) return;
            Sampler sampler = Sampler.withoutAttach(pid);
            jvms.put(pid, new Watched(sampler));
            sampler.next();
        } catch (IOException | RuntimeException e) {
            return; // it has ended, or is another user's
        }
    }

    private void sample() {
        for (Watched jvm : jvms.values()) {
            try {
                if (!jvm.ended) jvm.add(jvm.sampler.next());
            } catch (IOException e) {
                jvm.ended = true;
            }
        }
    }

    /** What was seen of each. Waits until the last look is over. */
    List<Usage> end() {
        over.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        List<Usage> all = new ArrayList<>();
        jvms.forEach((pid, jvm) -> {
            jvm.sampler.close();
            List<Usage.Pool> pools = new ArrayList<>(jvm.pools.values());
            pools.removeIf(pool -> pool.cpuNanos() == 0);
            pools.sort(Comparator.comparingLong(Usage.Pool::cpuNanos).reversed());
            all.add(new Usage(
                    pid,
                    jvm.sampler.name(),
                    "proc",
                    jvm.total.cpuNanos(),
                    jvm.total.userNanos(),
                    pools,
                    List.of(),
                    null));
        });
        return all;
    }
}
