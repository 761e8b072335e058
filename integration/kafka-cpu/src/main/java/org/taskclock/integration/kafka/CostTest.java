// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Compares two brokers under small requests, one with the patch and one without it, in turns. */
final class CostTest {
    private static final int ROUNDS = 9;
    private static final int WARM_UP_ROUNDS = 3;
    private static final int ROUND_MILLIS = 3000;
    private static final int PRODUCERS = 2;
    private static final int UNPACED = 1_000_000;

    private final Cluster cluster;
    private final List<Round> with = new ArrayList<>();
    private final List<Round> without = new ArrayList<>();

    private record Round(double micros, double requestsPerSecond) {}

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
        return new Round(figures.handlers() / 1e3 / requests, requests * 1e9 / figures.nanoTime());
    }

    String text() {
        double[] ratios = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) ratios[i] = with.get(i).micros / without.get(i).micros;
        Arrays.sort(ratios);
        return String.format(
                Locale.ROOT,
                "%n## Cost%n%n%d producers send requests of one record as fast as they can to a broker with the patch and"
                        + " to one without it, in turns: medians of %d rounds of %.0f s.%n%n"
                        + "| broker | CPU time of the handler threads, us/request | requests/s |%n|---|---:|---:|%n"
                        + "| without the patch | %.2f | %.0f |%n| with the patch and `RequestCpu` | %.2f | %.0f |%n%n"
                        + "With relative to without, by pairs of rounds: median %.3f, from %.3f to %.3f.%n",
                PRODUCERS,
                ROUNDS,
                ROUND_MILLIS / 1e3,
                median(without, true),
                median(without, false),
                median(with, true),
                median(with, false),
                ratios[ROUNDS / 2],
                ratios[0],
                ratios[ROUNDS - 1]);
    }

    private static double median(List<Round> rounds, boolean isMicros) {
        double[] sorted = rounds.stream()
                .mapToDouble(round -> isMicros ? round.micros : round.requestsPerSecond)
                .sorted()
                .toArray();
        return sorted[sorted.length / 2];
    }
}
