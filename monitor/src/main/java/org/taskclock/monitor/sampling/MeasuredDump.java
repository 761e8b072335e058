// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * A thread dump in the JVM's format, with what each thread used in the interval before it. The header of each thread
 * has more fields, in the style of those that the JVM prints, between {@code elapsed=} and {@code tid=}:
 *
 * <pre>{@code
 * "main" #1 prio=5 os_prio=0 cpu=65.52ms elapsed=9.71s allocated=640K defined_classes=413
 *     interval=1.00s used=12.30ms user=10.10ms system=2.20ms waited=0.40ms tid=0x... nid=0x1f3 runnable  [0x...]
 * }</pre>
 *
 * <p>Here, {@code used} is the CPU time in the interval, and {@code waited} the time without a processor. What is
 * unknown is left out. {@code allocated_in} is the number of bytes that were allocated in the interval.
 */
public final class MeasuredDump {
    private MeasuredDump() {}

    /**
     * Measures for a while, and then takes the dump.
     *
     * @param sleep how to wait
     * @throws MonitorException if the JVM has exited or gives no dump
     */
    public static String take(long pid, Duration duration, Consumer<Duration> sleep) throws MonitorException {
        try (Sampler sampler = Sampler.of(pid)) {
            sampler.watchJavaStatus(true);
            sampler.next();
            sampler.next(); // learns from the first dump how much each thread had allocated
            sleep.accept(duration);
            Interval interval = sampler.next();
            return text(sampler.dump(), interval);
        } catch (MonitorException e) {
            throw e;
        } catch (IOException e) {
            throw new MonitorException(
                    MonitorException.Reason.FAILED, "process " + pid + " gives no thread dump: " + e.getMessage());
        }
    }

    /** Returns a dump as text, with the figures of an interval. */
    public static String text(ThreadDump dump, Interval interval) {
        Map<Integer, ThreadUsage> usages = new HashMap<>();
        for (ThreadUsage usage : interval.threads()) usages.put(usage.tid(), usage);
        String length = String.format(Locale.ROOT, "interval=%.2fs ", interval.intervalNanos() / 1e9);
        return dump.text(entry -> {
            ThreadUsage usage = usages.get(entry.tid());
            return usage == null ? "" : length + fields(usage);
        });
    }

    private static String fields(ThreadUsage usage) {
        long bytes = usage.java().allocatedBytes();
        return field("used", usage.cpuNanos())
                + field("user", usage.userNanos())
                + field("system", usage.systemNanos())
                + field("waited", usage.waitNanos())
                + (bytes < 0 ? "" : "allocated_in=" + bytes + "B ");
    }

    private static String field(String name, long nanos) {
        return nanos < 0 ? "" : String.format(Locale.ROOT, "%s=%.2fms ", name, nanos / 1e6);
    }
}
