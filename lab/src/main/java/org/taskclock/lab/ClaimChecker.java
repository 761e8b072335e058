// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.taskclock.lab.ExperimentClaim.CONFIRMED;
import static org.taskclock.lab.ExperimentClaim.CONTRADICTED;
import static org.taskclock.lab.ExperimentClaim.INCONCLUSIVE;
import static org.taskclock.lab.ExperimentClaim.NOT_MEASURED;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.taskclock.report.Result;

/** Checks published claims against measurements. */
record ClaimChecker(PublishedData published, Measurements measured, List<FlameGraphs.Shares> flames) {
    /** Higher percentiles depend on other load on the machine. */
    private static final double MAX_PERCENTILE = 99;

    /** The outcome on one JDK. */
    private record Outcome(String verdict, String text) {}

    List<Result.Finding> findings() {
        List<Result.Finding> findings = new ArrayList<>();
        for (PublishedData.Claim claim : published.claims()) {
            List<Outcome> outcomes =
                    switch (claim.id()) {
                        case "30-to-400" -> byJdk(jdk -> gap(claim, jdk));
                        case "jdk-26" -> acrossJdks(claim);
                        case "40-lower" -> byJdk(jdk -> compareMeans(claim, jdk, 16));
                        case "mean-ms" -> byJdk(jdk -> compareMeans(claim, jdk, 1));
                        case "max-ms" -> byJdk(jdk -> compareMaxima(claim, jdk));
                        case "widens" -> byJdk(this::widens);
                        case "13-percent" -> byJdk(jdk -> savings(claim, jdk));
                        case "all-percentiles" -> byJdk(this::comparePercentiles);
                        case "before-in-kernel" ->
                            byFlame(claim, FlameGraphs.BEFORE, FlameGraphs.Shares::kernel, "in the kernel");
                        case "after-in-jvm" ->
                            byFlame(claim, FlameGraphs.AFTER, FlameGraphs.Shares::kernel, "in the kernel");
                        case "look-up" ->
                            byFlame(
                                    claim,
                                    FlameGraphs.AFTER,
                                    FlameGraphs.Shares::lookUp,
                                    "of the system call in the lookup");
                        default -> throw new IllegalArgumentException("claim " + claim.id());
                    };
            add(findings, claim, outcomes);
        }
        return findings;
    }

    /** Adds one finding per verdict, which is a single finding if all JDKs agree. */
    private void add(List<Result.Finding> findings, PublishedData.Claim claim, List<Outcome> outcomes) {
        String source = published.source(claim.source()).title();
        if (outcomes.isEmpty()) {
            findings.add(new Result.Finding(
                    claim.text(),
                    source,
                    NOT_MEASURED,
                    "published: " + claim.published() + "; not measured in this run"));
        }
        for (String verdict : List.of(CONFIRMED, CONTRADICTED, INCONCLUSIVE, NOT_MEASURED)) {
            List<String> texts = outcomes.stream()
                    .filter(outcome -> outcome.verdict.equals(verdict))
                    .map(Outcome::text)
                    .toList();
            if (texts.isEmpty()) continue;
            String text = "published: " + claim.published() + "; measured: " + String.join("; ", texts);
            findings.add(new Result.Finding(claim.text(), source, verdict, text));
        }
    }

    private List<Outcome> byJdk(Function<String, Outcome> of) {
        List<Outcome> outcomes = new ArrayList<>();
        for (String jdk : measured.jdks()) {
            Outcome outcome = of.apply(jdk);
            if (outcome != null) outcomes.add(new Outcome(outcome.verdict, "JDK " + jdk + ": " + outcome.text));
        }
        return outcomes;
    }

    /**
     * Compares a range with the claim.
     *
     * @param noEffect the value that means no effect
     */
    private static Outcome within(PublishedData.Claim claim, QuantileRange range, double noEffect, String text) {
        boolean inside = range.median() >= claim.from() && range.median() <= claim.to();
        if (inside) {
            return range.low() <= noEffect && range.high() >= noEffect
                    ? new Outcome(INCONCLUSIVE, text + ": the range includes no effect at all")
                    : new Outcome(CONFIRMED, text);
        }
        boolean reaches = range.high() >= claim.from() && range.low() <= claim.to();
        return reaches
                ? new Outcome(INCONCLUSIVE, text + ": the range crosses the limit")
                : new Outcome(CONTRADICTED, text);
    }

    /** Returns the outcome for the means; inconclusive if the medians contradict it. */
    private static Outcome combine(Outcome byMeans, Outcome byMedians) {
        boolean disagree =
                isConclusive(byMeans) && isConclusive(byMedians) && !byMeans.verdict.equals(byMedians.verdict);
        return disagree ? new Outcome(INCONCLUSIVE, byMeans.text + ": means and medians disagree") : byMeans;
    }

    private static boolean isConclusive(Outcome outcome) {
        return outcome.verdict.equals(CONFIRMED) || outcome.verdict.equals(CONTRADICTED);
    }

    private static String times(QuantileRange range) {
        return String.format(Locale.ROOT, "%.1f x (%.1f to %.1f)", range.median(), range.low(), range.high());
    }

    private QuantileRange gap(String jdk, int threads) {
        Measurement user = measured.sampled(jdk, measured.before(jdk), threads);
        Measurement cpu = measured.sampled(jdk, Contender.STOCK_CPU, threads);
        return user == null || cpu == null ? null : user.range().over(cpu.range());
    }

    private Outcome gap(PublishedData.Claim claim, String jdk) {
        List<String> texts = new ArrayList<>();
        Outcome last = null;
        boolean confirmed = false;
        for (int threads : measured.sampledThreads()) {
            QuantileRange gap = gap(jdk, threads);
            if (gap == null) continue;
            String text = times(gap) + " with " + threads(threads);
            texts.add(text);
            last = within(claim, gap, 1, text);
            confirmed |= last.verdict.equals(CONFIRMED);
        }
        return last == null ? null : new Outcome(confirmed ? CONFIRMED : last.verdict, String.join(", ", texts));
    }

    private Outcome widens(String jdk) {
        List<Integer> threads = measured.sampledThreads().stream()
                .filter(n -> gap(jdk, n) != null)
                .toList();
        if (threads.size() < 2) return null;
        QuantileRange one = gap(jdk, threads.get(0));
        QuantileRange many = gap(jdk, threads.get(threads.size() - 1));
        List<String> texts = threads.stream()
                .map(n -> times(gap(jdk, n)) + " with " + threads(n))
                .toList();
        String text = "medians " + String.join(", ", texts);
        if (many.low() > one.high()) return new Outcome(CONFIRMED, text);
        if (many.high() < one.low()) return new Outcome(CONTRADICTED, text);
        return new Outcome(INCONCLUSIVE, text + ": the ranges overlap");
    }

    private static String threads(int threads) {
        return threads == 1 ? "1 thread" : threads + " threads";
    }

    private Outcome compareMeans(PublishedData.Claim claim, String jdk, int threads) {
        Measurement before = measured.sampled(jdk, measured.before(jdk), threads);
        Measurement after = measured.sampled(jdk, measured.after(jdk), threads);
        if (before == null || after == null) return null;
        QuantileRange range = QuantileRange.of(before.means()).over(QuantileRange.of(after.means()));
        String text = String.format(
                Locale.ROOT,
                "means with %s %s, %.3f us to %.3f us; medians %s",
                threads(threads),
                times(range),
                QuantileRange.of(before.means()).median() / 1e3,
                QuantileRange.of(after.means()).median() / 1e3,
                times(before.range().over(after.range())));
        // With more threads than processors, or noisy neighbors, a mean includes the time of other threads.
        return combine(
                within(claim, range, 1, text), within(claim, before.range().over(after.range()), 1, text));
    }

    private Outcome compareMaxima(PublishedData.Claim claim, String jdk) {
        Measurement before = measured.sampled(jdk, measured.before(jdk), 1);
        Measurement after = measured.sampled(jdk, measured.after(jdk), 1);
        if (before == null || after == null) return null;
        QuantileRange range = QuantileRange.of(before.maxima()).over(QuantileRange.of(after.maxima()));
        String text = String.format(
                Locale.ROOT,
                "overall maximum %.3f ms to %.3f ms, %.1f x; maxima of iterations %s",
                before.row("p1.00") / 1e6,
                after.row("p1.00") / 1e6,
                before.row("p1.00") / after.row("p1.00"),
                times(range));
        return within(claim, range, 1, text);
    }

    private Outcome savings(PublishedData.Claim claim, String jdk) {
        Measurement own = measured.sampled(jdk, Contender.OWN_ID, 1);
        Measurement zero = measured.sampled(jdk, Contender.ID_0, 1);
        if (own == null || zero == null) return null;
        QuantileRange percent = QuantileRange.of(own.means()).percentSavedBy(QuantileRange.of(zero.means()));
        QuantileRange percentOfMedians = own.range().percentSavedBy(zero.range());
        String text = String.format(
                Locale.ROOT,
                "means %.1f %% (%.1f to %.1f), %.0f ns to %.0f ns; medians %.1f %% (%.1f to %.1f)",
                percent.median(),
                percent.low(),
                percent.high(),
                QuantileRange.of(own.means()).median(),
                QuantileRange.of(zero.means()).median(),
                percentOfMedians.median(),
                percentOfMedians.low(),
                percentOfMedians.high());
        return combine(within(claim, percent, 0, text), within(claim, percentOfMedians, 0, text));
    }

    private Outcome comparePercentiles(String jdk) {
        Measurement own = measured.sampled(jdk, Contender.OWN_ID, 1);
        Measurement zero = measured.sampled(jdk, Contender.ID_0, 1);
        if (own == null || zero == null) return null;
        List<String> worse = new ArrayList<>();
        boolean confirmed = true;
        for (String row : Measurement.percentileRows()) {
            if (zero.row(row) <= own.row(row)) continue;
            worse.add(String.format(Locale.ROOT, "%s (%.0f ns, own id %.0f)", row, zero.row(row), own.row(row)));
            confirmed &= Measurement.percent(row) > MAX_PERCENTILE;
        }
        String text = worse.isEmpty() ? "lower or equal in every row" : "higher in " + String.join(", ", worse);
        return new Outcome(
                confirmed ? CONFIRMED : CONTRADICTED, text + "; rows above p0.99 are ignored: they have few readings");
    }

    /** Compares the first JDK without the fix and the first JDK with it. */
    private List<Outcome> acrossJdks(PublishedData.Claim claim) {
        String old = firstJdk(true);
        String fixed = firstJdk(false);
        if (old == null || fixed == null) return List.of();
        List<Outcome> outcomes = new ArrayList<>();
        for (int threads : measured.sampledThreads()) {
            Measurement before = measured.sampled(old, Contender.STOCK_USER, threads);
            Measurement after = measured.sampled(fixed, Contender.STOCK_USER, threads);
            if (before == null || after == null) continue;
            QuantileRange range = before.range().over(after.range());
            outcomes.add(within(
                    claim,
                    range,
                    1,
                    "JDK " + old + " to " + fixed + ": " + times(range) + " with " + threads(threads)));
        }
        return outcomes;
    }

    private String firstJdk(boolean asText) {
        return measured.jdks().stream()
                .filter(jdk -> Jdk.readsUserTimeAsText(measured.version(jdk)) == asText)
                .findFirst()
                .orElse(null);
    }

    private List<Outcome> byFlame(
            PublishedData.Claim claim, String which, Function<FlameGraphs.Shares, Double> share, String where) {
        List<Outcome> outcomes = new ArrayList<>();
        for (FlameGraphs.Shares flame : flames) {
            if (!flame.which().equals(which)) continue;
            Double value = share.apply(flame);
            if (value == null) continue;
            double percent = 100 * value;
            String text = String.format(
                    Locale.ROOT, "JDK %s: %.0f %% %s, of %d samples", flame.jdk(), percent, where, flame.samples());
            outcomes.add(within(claim, new QuantileRange(percent, percent, percent), Double.NaN, text));
        }
        return outcomes;
    }
}
