// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.ObjectName;
import org.taskclock.TaskClock;

/**
 * Compares the CPU time of Kafka's requests with the kernel's and with what Kafka's quota measures: {@code KafkaCpuTest
 * FILE SECONDS CLASSPATH}, the last of a broker without the patch.
 */
public final class KafkaCpuTest {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final String LIMITED = "limited";
    private static final String OTHER = "other";
    private static final int RECORDS = 100;
    private static final int REQUESTS_PER_SECOND = 40;
    private static final int WARM_UP_SECONDS = 20;
    /** Kafka averages its figure over 10 seconds and the current one. */
    private static final int SETTLE_SECONDS = 11;

    private static final double NO_QUOTA = 100_000;
    private static final double QUOTA = 1.2;
    private static final double CPU_LIMIT = 0.8;
    private static final double TOLERANCE = 0.01;
    /** CPU time per request also depends on caches and on what runs on the other hardware thread. */
    private static final double MAX_SPREAD = 1.3;

    private final StringBuilder text = new StringBuilder();
    private final List<String> failures = new ArrayList<>();
    private final int seconds;

    /** The figures of one client in one phase. */
    record Usage(double requestsPerSecond, double kafkaMicros, double cpuMicros, double throttleMillis) {}

    /** The figures of one phase. */
    record Phase(String name, Figures figures, Usage limited, Usage other, double load, long throttledPeriods) {}

    private KafkaCpuTest(int seconds) {
        this.seconds = seconds;
    }

    public static void main(String[] args) throws Exception {
        KafkaCpuTest test = new KafkaCpuTest(Integer.parseInt(args[1]));
        test.measure(args[2]);
        Files.writeString(Path.of(args[0]), test.text);
        System.out.println(test.text);
        for (String failure : test.failures) System.err.println("failed: " + failure);
        System.exit(test.failures.isEmpty() ? 0 : 1);
    }

    private void measure(String stockClassPath) throws Exception {
        append(
                "# CPU time of Kafka's requests%n%nKafka 4.3.1; JDK %s; kernel %s; %d processors; backend %s; load average"
                        + " %.1f before the test.%n%n",
                System.getProperty("java.runtime.version"),
                System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(),
                TaskClock.status().backend(),
                SYSTEM.getSystemLoadAverage());
        try (Cluster cluster = new Cluster(stockClassPath)) {
            cluster.await();
            CostTest cost = new CostTest(cluster);
            cost.measure();
            measurePhases(cluster);
            text.append(cost.text());
        }
        append("%nThe load average after the test was %.1f.%n", SYSTEM.getSystemLoadAverage());
    }

    private void measurePhases(Cluster cluster) throws Exception {
        Node broker = cluster.patched;
        // With a quota that nobody reaches, Kafka measures, too.
        cluster.setQuota(null, NO_QUOTA);
        cluster.createTopic(LIMITED, broker, "gzip");
        cluster.createTopic(OTHER, broker, "gzip");
        List<Phase> phases = new ArrayList<>();
        try (Client limited = producer(broker, LIMITED);
                Client other = producer(broker, OTHER);
                Client reader = Client.consumer(broker.address(), "reader", List.of(LIMITED, OTHER))) {
            Thread.sleep(1000L * WARM_UP_SECONDS);
            Phase calm = measure("calm", broker, limited, other);
            phases.add(calm);
            phases.add(underGc("GC", broker, limited, other));
            double cpus = CPU_LIMIT * calm.figures.process() / calm.figures.nanoTime();
            phases.add(underLimit("CPU limit", cpus, broker, limited, other));
            double quota = QUOTA * calm.limited.requestsPerSecond * calm.limited.kafkaMicros / 1e4;
            cluster.setQuota(LIMITED, quota);
            phases.add(measure("calm, quota", broker, limited, other));
            phases.add(underGc("GC, quota", broker, limited, other));
            phases.add(underLimit("CPU limit, quota", cpus, broker, limited, other));
            if (reader.count.get() == 0) failures.add("the consumer got no records");
            new PhaseReport(phases, cpus, quota).appendTo(text);
        }
        check(phases);
    }

    private static Client producer(Node broker, String name) {
        return Client.producer(broker.address(), name, name, RECORDS, REQUESTS_PER_SECOND);
    }

    private Phase underGc(String name, Node broker, Client limited, Client other) throws Exception {
        ObjectName control = new ObjectName(TestControl.NAME);
        broker.beans().setAttribute(control, new Attribute("GcPressure", true));
        try {
            return measure(name, broker, limited, other);
        } finally {
            broker.beans().setAttribute(control, new Attribute("GcPressure", false));
        }
    }

    private Phase underLimit(String name, double cpus, Node broker, Client limited, Client other) throws Exception {
        try (CpuQuota quota = CpuQuota.limit(broker.process.pid(), cpus)) {
            Phase phase = measure(name, broker, limited, other);
            return new Phase(name, phase.figures, phase.limited, phase.other, phase.load, quota.throttledPeriods());
        }
    }

    private Phase measure(String name, Node broker, Client limited, Client other) throws Exception {
        Thread.sleep(1000L * SETTLE_SECONDS);
        Figures before = Figures.read(broker);
        long limitedBefore = limited.count.get();
        long otherBefore = other.count.get();
        Thread.sleep(1000L * seconds);
        Figures figures = Figures.read(broker).minus(before);
        return new Phase(
                name,
                figures,
                usage(broker, LIMITED, limited, limited.count.get() - limitedBefore, figures),
                usage(broker, OTHER, other, other.count.get() - otherBefore, figures),
                SYSTEM.getSystemLoadAverage(),
                0);
    }

    private static Usage usage(Node broker, String name, Client client, long requests, Figures figures)
            throws IOException, JMException {
        double perSecond = requests * 1e9 / figures.nanoTime();
        return new Usage(
                perSecond,
                Figures.requestTime(broker, name) * 1e4 / perSecond,
                figures.account("client-id", name) / 1e3 / requests,
                client.throttleMillis());
    }

    private void check(List<Phase> phases) {
        for (Phase phase : phases) {
            for (String dimension : List.of("request", "client-id", "topic")) {
                double ratio = (double) phase.figures.sum(dimension) / phase.figures.handlers();
                check(
                        Math.abs(ratio - 1) <= TOLERANCE,
                        "%s: the accounts by %s are %.4f of the kernel's figure",
                        phase.name,
                        dimension,
                        ratio);
            }
        }
        Phase calm = phases.get(0);
        for (String dimension : List.of("client-id", "topic")) {
            double ratio = (double) calm.figures.account(dimension, LIMITED) / calm.figures.account(dimension, OTHER);
            check(ratio > 0.8 && ratio < 1.25, "equal work differs by %s: ratio %.2f", dimension, ratio);
        }
        double cpu = spread(phases, usage -> usage.cpuMicros);
        double kafka = spread(phases, usage -> usage.kafkaMicros);
        check(cpu < MAX_SPREAD, "the same work took %.2f times as much CPU time in another phase", cpu);
        check(kafka > MAX_SPREAD, "Kafka's figure differed by %.2f only: were the phases different?", kafka);
        double throttled = phases.get(5).limited.throttleMillis;
        check(
                throttled > 0,
                "the quota did not throttle the client under the CPU limit: was the machine too busy before?");
        check(phases.get(5).throttledPeriods > 0, "the CPU limit was not reached");
    }

    /** Returns how much the figures of both clients in all phases differ. */
    private static double spread(List<Phase> phases, ToDoubleFunction<Usage> figure) {
        double[] sorted = phases.stream()
                .flatMap(phase -> Stream.of(phase.limited, phase.other))
                .mapToDouble(figure)
                .sorted()
                .toArray();
        return sorted[sorted.length - 1] / sorted[0];
    }

    private void check(boolean isTrue, String failure, Object... arguments) {
        if (!isTrue) failures.add(String.format(Locale.ROOT, failure, arguments));
    }

    private void append(String format, Object... arguments) {
        text.append(String.format(Locale.ROOT, format, arguments));
    }
}
