// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.taskclock.TaskClock;

/** Compares two brokers under small requests, one with the patch and one without it, in turns. */
final class CostTest {
    private static final int ROUNDS = 9;
    private static final int WARM_UP_ROUNDS = 3;
    private static final int ROUND_MILLIS = 3000;
    private static final int PRODUCERS = 2;
    private static final int UNPACED = 1_000_000;
    private static final int CALLS = 500_000;

    private final Cluster cluster;
    private final List<Round> with = new ArrayList<>();
    private final List<Round> without = new ArrayList<>();

    private record Round(double micros, double requestsPerSecond, Figures figures) {}

    CostTest(Cluster cluster) {
        this.cluster = cluster;
    }

    void measure() throws Exception {
        cluster.createTopic("cost-" + cluster.patched.id, cluster.patched, "producer");
        cluster.createTopic("cost-" + cluster.stock.id, cluster.stock, "producer");
        for (int i = -WARM_UP_ROUNDS; i < ROUNDS; i++) {
            boolean isPatchedFirst = (i & 1) == 0;
            Round first = round(isPatchedFirst ? cluster.patched : cluster.stock);
            Round second = round(isPatchedFirst ? cluster.stock : cluster.patched);
            if (i < 0) continue;
            with.add(isPatchedFirst ? first : second);
            without.add(isPatchedFirst ? second : first);
        }
    }

    private static Round round(Node broker) throws Exception {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < PRODUCERS; i++) {
            clients.add(Client.producer(broker.address(), "cost" + i, "cost-" + broker.id, 1, UNPACED));
        }
        Thread.sleep(500);
        Figures before = Figures.read(broker);
        Thread.sleep(ROUND_MILLIS);
        Figures figures = Figures.read(broker).minus(before);
        for (Client client : clients) client.close();
        long requests = figures.requests().get("Produce");
        return new Round(figures.handlers() / 1e3 / requests, requests * 1e9 / figures.nanoTime(), figures);
    }

    /** Returns the CPU time of the reporter's calls for one request in a loop, in nanoseconds. */
    private static double reporterNanos() throws Exception {
        RequestContext request = new RequestContext(
                new RequestHeader(ApiKeys.PRODUCE, ApiKeys.PRODUCE.latestVersion(), "client", 0),
                "connection",
                InetAddress.getLoopbackAddress(),
                KafkaPrincipal.ANONYMOUS,
                new ListenerName("PLAINTEXT"),
                SecurityProtocol.PLAINTEXT,
                ClientInformation.EMPTY,
                false);
        double[] nanos = new double[ROUNDS];
        RequestCpu reporter = new RequestCpu();
        for (int i = 0; i < ROUNDS; i++) {
            long start = TaskClock.cpuNanos();
            for (int j = 0; j < CALLS; j++) {
                reporter.requestStarted(request);
                reporter.topicStarted("topic");
                reporter.topicEnded();
                reporter.requestEnded();
            }
            nanos[i] = (double) (TaskClock.cpuNanos() - start) / CALLS;
        }
        Arrays.sort(nanos);
        return nanos[ROUNDS / 2];
    }

    String text() throws Exception {
        double[] ratios = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) ratios[i] = with.get(i).micros / without.get(i).micros;
        Arrays.sort(ratios);
        return String.format(
                Locale.ROOT,
                "%n## Cost%n%n%d producers send requests of one record as fast as they can to a broker with the patch and"
                        + " to one without it, in turns: medians of %d rounds of %.0f s.%n%n"
                        + "| broker | CPU time of the handler threads, us/request | requests/s |%n|---|---:|---:|%n"
                        + "| without the patch | %.2f | %.0f |%n| with the patch and `RequestCpu` | %.2f | %.0f |%n%n"
                        + "With relative to without, by pairs of rounds: median %.3f, from %.3f to %.3f. The calls of"
                        + " `RequestCpu` for one request take %.2f us of CPU time in a loop.%n%n"
                        + "Of the patched broker's handler threads, waiting for requests was %.1f %%, work on the logs"
                        + " of topics %.1f %%, and the rest of the requests %.1f %% (last round).%n",
                PRODUCERS,
                ROUNDS,
                ROUND_MILLIS / 1e3,
                median(without, true),
                median(without, false),
                median(with, true),
                median(with, false),
                ratios[ROUNDS / 2],
                ratios[0],
                ratios[ROUNDS - 1],
                reporterNanos() / 1e3,
                share(RequestCpu.WAITING),
                100 - share(RequestCpu.WAITING) - share(RequestCpu.NO_TOPIC),
                share(RequestCpu.NO_TOPIC));
    }

    private double share(String topic) {
        Figures last = with.get(ROUNDS - 1).figures;
        return 100.0 * last.account("topic", topic) / last.sum("topic");
    }

    private static double median(List<Round> rounds, boolean isMicros) {
        double[] sorted = rounds.stream()
                .mapToDouble(round -> isMicros ? round.micros : round.requestsPerSecond)
                .sorted()
                .toArray();
        return sorted[sorted.length / 2];
    }
}
