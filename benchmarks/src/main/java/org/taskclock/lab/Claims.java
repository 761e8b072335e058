// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.taskclock.lab.Claim.CANNOT_TELL;
import static org.taskclock.lab.Claim.CONFIRMED;
import static org.taskclock.lab.Claim.CONTRADICTED;
import static org.taskclock.lab.Claim.NOT_MEASURED;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.taskclock.report.Result;

/** Tries what is claimed. */
final class Claims {

    /** Rows above rest on what else the machine did. */
    private static final double MOST_PERCENT = 99;

    private final Published published;
    private final Measurements measured;
    private final List<Flames.Shares> flames;

    Claims(Published published, Measurements measured, List<Flames.Shares> flames) {
        this.published = published;
        this.measured = measured;
        this.flames = flames;
    }

    /** What was found on one JDK. */
    private record Trial(String verdict, String text) {}

    List<Result.Finding> findings() {
        List<Result.Finding> findings = new ArrayList<>();
        for (Published.Claim claim : published.claims()) {
            List<Trial> trials =
                    switch (claim.id()) {
                        case "30-to-400" -> byJdk(jdk -> gap(claim, jdk));
                        case "jdk-26" -> acrossJdks(claim);
                        case "40-lower" -> byJdk(jdk -> means(claim, jdk, 16));
                        case "mean-ms" -> byJdk(jdk -> means(claim, jdk, 1));
                        case "max-ms" -> byJdk(jdk -> worst(claim, jdk));
                        case "widens" -> byJdk(this::widens);
                        case "13-percent" -> byJdk(jdk -> saved(claim, jdk));
                        case "all-percentiles" -> byJdk(this::allPercentiles);
                        case "before-in-kernel" ->
                            byFlame(claim, Flames.BEFORE, Flames.Shares::kernel, "in the kernel");
                        case "after-in-jvm" -> byFlame(claim, Flames.AFTER, Flames.Shares::kernel, "in the kernel");
                        case "look-up" ->
                            byFlame(claim, Flames.AFTER, Flames.Shares::lookUp, "of the system call in the look-up");
                        default -> throw new IllegalArgumentException("claim " + claim.id());
                    };
            add(findings, claim, trials);
        }
        return findings;
    }

    /** One finding where all JDKs agree, else one for each verdict. */
    private void add(List<Result.Finding> findings, Published.Claim claim, List<Trial> trials) {
        String source = published.source(claim.source()).title();
        if (trials.isEmpty()) {
            findings.add(new Result.Finding(
                    claim.text(),
                    source,
                    NOT_MEASURED,
                    "published: " + claim.published() + "; not measured in this run"));
        }
        for (String verdict : List.of(CONFIRMED, CONTRADICTED, CANNOT_TELL, NOT_MEASURED)) {
            List<String> texts = trials.stream()
                    .filter(trial -> trial.verdict.equals(verdict))
                    .map(Trial::text)
                    .toList();
            if (texts.isEmpty()) continue;
            String text = "published: " + claim.published() + "; measured: " + String.join("; ", texts);
            findings.add(new Result.Finding(claim.text(), source, verdict, text));
        }
    }

    private List<Trial> byJdk(Function<String, Trial> of) {
        List<Trial> trials = new ArrayList<>();
        for (String jdk : measured.jdks()) {
            Trial trial = of.apply(jdk);
            if (trial != null) trials.add(new Trial(trial.verdict, "JDK " + jdk + ": " + trial.text));
        }
        return trials;
    }

    /** How a spread lies to what was claimed, where no effect at all would be that value. */
    private static Trial within(Published.Claim claim, Spread spread, double noEffect, String text) {
        boolean inside = spread.middle() >= claim.from() && spread.middle() <= claim.to();
        if (inside) {
            return spread.low() <= noEffect && spread.high() >= noEffect
                    ? new Trial(CANNOT_TELL, text + ": no effect at all is within the spread")
                    : new Trial(CONFIRMED, text);
        }
        boolean reaches = spread.high() >= claim.from() && spread.low() <= claim.to();
        return reaches
                ? new Trial(CANNOT_TELL, text + ": the spread reaches across the limit")
                : new Trial(CONTRADICTED, text);
    }

    /** What the means say, unless the medians contradict. */
    private static Trial agreed(Trial byMeans, Trial byMedians) {
        boolean disagree = isTold(byMeans) && isTold(byMedians) && !byMeans.verdict.equals(byMedians.verdict);
        return disagree ? new Trial(CANNOT_TELL, byMeans.text + ": means and medians disagree") : byMeans;
    }

    private static boolean isTold(Trial trial) {
        return trial.verdict.equals(CONFIRMED) || trial.verdict.equals(CONTRADICTED);
    }

    private static Trial ratioWithin(Published.Claim claim, Spread spread, String text) {
        return within(claim, spread, 1, text);
    }

    private static String times(Spread spread) {
        return String.format(Locale.ROOT, "%.1f x (%.1f to %.1f)", spread.middle(), spread.low(), spread.high());
    }

    private Spread gap(String jdk, int threads) {
        Measurement user = measured.sampled(jdk, measured.before(jdk), threads);
        Measurement cpu = measured.sampled(jdk, Contender.STOCK_CPU, threads);
        return user == null || cpu == null ? null : user.spread().over(cpu.spread());
    }

    private Trial gap(Published.Claim claim, String jdk) {
        List<String> texts = new ArrayList<>();
        Trial last = null;
        boolean confirmed = false;
        for (int threads : measured.sampledThreads()) {
            Spread gap = gap(jdk, threads);
            if (gap == null) continue;
            String text = times(gap) + " by " + threads(threads);
            texts.add(text);
            last = ratioWithin(claim, gap, text);
            confirmed |= last.verdict.equals(CONFIRMED);
        }
        return last == null ? null : new Trial(confirmed ? CONFIRMED : last.verdict, String.join(", ", texts));
    }

    private Trial widens(String jdk) {
        List<Integer> threads = measured.sampledThreads().stream()
                .filter(n -> gap(jdk, n) != null)
                .toList();
        if (threads.size() < 2) return null;
        int least = threads.get(0);
        int most = threads.get(threads.size() - 1);
        Spread one = gap(jdk, least);
        Spread many = gap(jdk, most);
        List<String> texts = threads.stream()
                .map(n -> times(gap(jdk, n)) + " by " + threads(n))
                .toList();
        String text = "medians " + String.join(", ", texts);
        if (many.low() > one.high()) return new Trial(CONFIRMED, text);
        if (many.high() < one.low()) return new Trial(CONTRADICTED, text);
        return new Trial(CANNOT_TELL, text + ": the spreads overlap");
    }

    private static String threads(int threads) {
        return threads == 1 ? "1 thread" : threads + " threads";
    }

    private Trial means(Published.Claim claim, String jdk, int threads) {
        Measurement before = measured.sampled(jdk, measured.before(jdk), threads);
        Measurement after = measured.sampled(jdk, measured.after(jdk), threads);
        if (before == null || after == null) return null;
        Spread spread = Spread.of(before.means()).over(Spread.of(after.means()));
        String text = String.format(
                Locale.ROOT,
                "means of %s %s, %.3f us to %.3f us; medians %s",
                threads(threads),
                times(spread),
                Spread.of(before.means()).middle() / 1e3,
                Spread.of(after.means()).middle() / 1e3,
                times(before.spread().over(after.spread())));
        // With more threads than processors, or neighbours, a mean holds the time of others.
        return agreed(
                ratioWithin(claim, spread, text),
                ratioWithin(claim, before.spread().over(after.spread()), text));
    }

    private Trial worst(Published.Claim claim, String jdk) {
        Measurement before = measured.sampled(jdk, measured.before(jdk), 1);
        Measurement after = measured.sampled(jdk, measured.after(jdk), 1);
        if (before == null || after == null) return null;
        Spread spread = Spread.of(before.maxima()).over(Spread.of(after.maxima()));
        String text = String.format(
                Locale.ROOT,
                "worst of all %.3f ms to %.3f ms, %.1f x; of single iterations %s",
                before.row("p1.00") / 1e6,
                after.row("p1.00") / 1e6,
                before.row("p1.00") / after.row("p1.00"),
                times(spread));
        return ratioWithin(claim, spread, text);
    }

    private Trial saved(Published.Claim claim, String jdk) {
        Measurement own = measured.sampled(jdk, Contender.OWN_ID, 1);
        Measurement zero = measured.sampled(jdk, Contender.ID_0, 1);
        if (own == null || zero == null) return null;
        Spread saved = Spread.of(own.means()).savedBy(Spread.of(zero.means()));
        Spread percent = new Spread(100 * saved.low(), 100 * saved.middle(), 100 * saved.high());
        Spread medians = own.spread().savedBy(zero.spread());
        Spread percentOfMedians = new Spread(100 * medians.low(), 100 * medians.middle(), 100 * medians.high());
        String text = String.format(
                Locale.ROOT,
                "means %.1f %% (%.1f to %.1f), %.0f ns to %.0f ns; medians %.1f %% (%.1f to %.1f)",
                percent.middle(),
                percent.low(),
                percent.high(),
                Spread.of(own.means()).middle(),
                Spread.of(zero.means()).middle(),
                percentOfMedians.middle(),
                percentOfMedians.low(),
                percentOfMedians.high());
        return agreed(within(claim, percent, 0, text), within(claim, percentOfMedians, 0, text));
    }

    private Trial allPercentiles(String jdk) {
        Measurement own = measured.sampled(jdk, Contender.OWN_ID, 1);
        Measurement zero = measured.sampled(jdk, Contender.ID_0, 1);
        if (own == null || zero == null) return null;
        List<String> worse = new ArrayList<>();
        boolean judged = true;
        for (String row : Measurement.percentileRows()) {
            if (zero.row(row) <= own.row(row)) continue;
            worse.add(String.format(Locale.ROOT, "%s (%.0f ns, own id %.0f)", row, zero.row(row), own.row(row)));
            judged &= Measurement.percent(row) > MOST_PERCENT;
        }
        String text = worse.isEmpty() ? "lower or as low in each row" : "not in " + String.join(", ", worse);
        return new Trial(judged ? CONFIRMED : CONTRADICTED, text + "; judged to p0.99, as few readings are above");
    }

    /** Of the first JDK without the fix, and the first with it. */
    private List<Trial> acrossJdks(Published.Claim claim) {
        String old = firstJdk(true);
        String fixed = firstJdk(false);
        if (old == null || fixed == null) return List.of();
        List<Trial> trials = new ArrayList<>();
        for (int threads : measured.sampledThreads()) {
            Measurement before = measured.sampled(old, Contender.STOCK_USER, threads);
            Measurement after = measured.sampled(fixed, Contender.STOCK_USER, threads);
            if (before == null || after == null) continue;
            Spread spread = before.spread().over(after.spread());
            trials.add(ratioWithin(
                    claim, spread, "JDK " + old + " to " + fixed + ": " + times(spread) + " by " + threads(threads)));
        }
        return trials;
    }

    private String firstJdk(boolean asText) {
        return measured.jdks().stream()
                .filter(jdk -> Jdk.readsUserTimeAsText(measured.version(jdk)) == asText)
                .findFirst()
                .orElse(null);
    }

    private List<Trial> byFlame(
            Published.Claim claim, String which, Function<Flames.Shares, Double> share, String what) {
        List<Trial> trials = new ArrayList<>();
        for (Flames.Shares flame : flames) {
            if (!flame.which().equals(which)) continue;
            Double part = share.apply(flame);
            if (part == null) continue;
            double percent = 100 * part;
            String text = String.format(
                    Locale.ROOT, "JDK %s: %.0f %% %s, of %d samples", flame.jdk(), percent, what, flame.samples());
            trials.add(within(claim, new Spread(percent, percent, percent), Double.NaN, text));
        }
        return trials;
    }
}
