// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
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
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.Sampler;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.monitor.usage.ThreadUsage;

/** Samples the JVMs among a process's descendants through /proc, in case their agents do not report. */
final class DescendantSampler {
    private static final Duration SCAN_INTERVAL = Duration.ofMillis(250);
    /** Threads are sampled on every n-th scan for processes. */
    private static final int SCANS_PER_SAMPLE = 2;

    private static final class Jvm {
        final Sampler sampler;
        final Map<String, JvmUsage.Pool> pools = new HashMap<>();
        CpuTime total = new CpuTime(0, 0, 0);
        boolean ended;

        Jvm(Sampler sampler) {
            this.sampler = sampler;
        }

        void add(Interval interval) {
            for (ThreadUsage thread : interval.threads()) {
                if (thread.kind() == ThreadKind.VIRTUAL || thread.cpuNanos() < 0) continue;
                JvmUsage.Pool pool = new JvmUsage.Pool(
                        thread.pool(),
                        thread.kind(),
                        thread.threads(),
                        thread.cpuNanos(),
                        Math.max(0, thread.userNanos()));
                pools.merge(
                        thread.pool(),
                        pool,
                        (a, b) -> new JvmUsage.Pool(
                                a.name(),
                                a.kind(),
                                Math.max(a.threads(), b.threads()),
                                a.cpuNanos() + b.cpuNanos(),
                                a.userNanos() + b.userNanos()));
            }
        }
    }

    private final ProcessHandle root;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final DaemonThread thread = new DaemonThread(this::run, "taskclock-sampler");
    private final Map<Long, Jvm> jvms = new LinkedHashMap<>();

    DescendantSampler(ProcessHandle root) {
        this.root = root;
        thread.start();
    }

    private void run() {
        try {
            for (int scan = 0; !stopped.await(SCAN_INTERVAL.toNanos(), TimeUnit.NANOSECONDS); scan++) {
                scan();
                if (scan % SCANS_PER_SAMPLE == 0) sample();
            }
        } catch (InterruptedException e) {
            return; // this JVM is exiting
        }
    }

    private void scan() {
        scan(root);
        try {
            root.descendants().forEach(this::scan);
        } catch (RuntimeException e) {
            // ProcessHandle cannot open /proc if this process has too many open files. The next scan may succeed.
            return;
        }
    }

    private void scan(ProcessHandle process) {
        long pid = process.pid();
        if (jvms.containsKey(pid)) {
            CpuTime now = ProcessClock.of(pid).now();
            if (now.isKnown()) jvms.get(pid).total = now;
            return;
        }
        try {
            if (!JvmProcesses.hasLibjvm(pid)) return;
            Sampler sampler = Sampler.withoutAttach(pid);
            jvms.put(pid, new Jvm(sampler));
            sampler.next();
        } catch (IOException | RuntimeException e) {
            return; // it has exited or belongs to another user
        }
    }

    private void sample() {
        for (Jvm jvm : jvms.values()) {
            try {
                if (!jvm.ended) jvm.add(jvm.sampler.next());
            } catch (IOException | RuntimeException e) {
                // The JVM has ended or cannot be read. Its earlier samples and the other JVMs are still reported.
                jvm.ended = true;
            }
        }
    }

    /**
     * Stops sampling, waits for the last sample to complete, even if interrupted, and returns the usage of each JVM.
     */
    List<JvmUsage> stop() {
        stopped.countDown();
        awaitEnd(); // the thread uses the samplers and the map without synchronization
        List<JvmUsage> all = new ArrayList<>();
        jvms.forEach((pid, jvm) -> {
            jvm.sampler.close();
            List<JvmUsage.Pool> pools = new ArrayList<>(jvm.pools.values());
            pools.removeIf(pool -> pool.cpuNanos() == 0);
            pools.sort(Comparator.comparingLong(JvmUsage.Pool::cpuNanos).reversed());
            all.add(new JvmUsage(
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

    private void awaitEnd() {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
