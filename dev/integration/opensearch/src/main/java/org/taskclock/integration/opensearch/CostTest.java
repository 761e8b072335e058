// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Measures what resource tracking costs small searches, with all variants in turns in one JVM. */
final class CostTest {
    private static final int CLIENTS = 4;
    private static final int ROUNDS = 7;
    private static final double SECONDS = 2.5;
    private static final double SETTLE_SECONDS = 0.3;

    private final Report report;
    private final Switches switches;
    private final List<Variant> variants;

    private record Variant(String name, boolean tracks, boolean isBinary, boolean usesAgent) {}

    /** Without a patch (null), the variants are those of the agent and of the node's own settings. */
    CostTest(Report report, Switches switches, String patch) {
        this.report = report;
        this.switches = switches;
        this.variants = patch != null
                ? List.of(new Variant("off", false, true, false), new Variant("on, " + patch, true, true, false))
                : List.of(
                        new Variant("off", false, true, false),
                        new Variant("on, JSON as before 3.8", true, false, false),
                        new Variant("on", true, true, false),
                        new Variant("on, with the agent", true, true, true));
    }

    void measure(InetSocketAddress address, String index, String shards) throws Exception {
        List<List<SearchLoad.Usage>> usages = new ArrayList<>();
        for (int i = 0; i < variants.size(); i++) usages.add(new ArrayList<>());
        try (SearchLoad load = new SearchLoad(address, index, CLIENTS)) {
            load.run(6 * SECONDS);
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < variants.size(); i++) {
                    int turn = (i + round) % variants.size();
                    set(variants.get(turn));
                    load.run(SETTLE_SECONDS);
                    usages.get(turn).add(load.run(SECONDS));
                }
            }
        }
        for (int i = 0; i < variants.size(); i++) append(shards, variants.get(i), usages.get(i), usages.get(0));
    }

    void appendHead() {
        report.append(
                "| shards | tracking | searches/s | CPU time per search, us: node's threads | all but the clients' |"
                        + " relative to off: searches/s | node's threads | all but the clients' |%n"
                        + "|---:|---|---:|---:|---:|---:|---:|---:|%n");
    }

    String description() {
        return String.format(
                Locale.ROOT, "%d rounds of %.1f s per variant, in turns, %d clients", ROUNDS, SECONDS, CLIENTS);
    }

    private void set(Variant variant) throws Exception {
        switches.tracking(variant.tracks);
        switches.binaryHeader(variant.isBinary);
        if (Switches.hasAgent()) Switches.agent(variant.usesAgent);
    }

    private void append(String shards, Variant variant, List<SearchLoad.Usage> usages, List<SearchLoad.Usage> off) {
        report.append(
                "| %s | %s | %.0f | %.1f | %.1f |",
                shards,
                variant.name,
                median(usages, SearchLoad.Usage::perSecond),
                median(usages, SearchLoad.Usage::nodeMicros),
                median(usages, SearchLoad.Usage::allMicros));
        for (ToDoubleFunction<SearchLoad.Usage> value : Arrays.<ToDoubleFunction<SearchLoad.Usage>>asList(
                SearchLoad.Usage::perSecond, SearchLoad.Usage::nodeMicros, SearchLoad.Usage::allMicros)) {
            if (usages == off) {
                report.append(" |");
                continue;
            }
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < off.size(); i++) {
                ratios.add(value.applyAsDouble(usages.get(i)) / value.applyAsDouble(off.get(i)));
            }
            report.append(
                    " %.3f (%.3f to %.3f) |",
                    Report.median(ratios), Report.quantile(ratios, 0.25), Report.quantile(ratios, 0.75));
        }
        report.append("%n");
    }

    private static double median(List<SearchLoad.Usage> usages, ToDoubleFunction<SearchLoad.Usage> value) {
        return Report.median(usages.stream().map(value::applyAsDouble).toList());
    }
}
