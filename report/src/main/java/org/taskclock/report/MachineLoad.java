// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Decides whether a machine was busy with other work during a measurement, which makes its figures unreliable. */
public final class MachineLoad {
    /** The share of the machine's CPU time, in percent, from which on other work disturbs a measurement. */
    public static final double BUSY_PERCENT = 10;

    /** Next to a verdict. */
    public static final String BUSY = "machine was busy";

    private MachineLoad() {}

    /** Returns what the machine did other than the measurement if that was too much; otherwise an empty string. */
    public static String warning(Result result) {
        List<Result.Load> load = result.load();
        if (load.isEmpty()) return earlierWarning(result);
        List<Result.Load> busy =
                load.stream().filter(step -> step.percent() >= BUSY_PERCENT).toList();
        if (busy.isEmpty()) return "";
        Result.Load worst = busy.stream()
                .max(Comparator.comparingDouble(Result.Load::percent))
                .orElseThrow();
        return String.format(
                Locale.ROOT,
                "The machine was busy: in %d of %d steps, other processes and the hypervisor took at least %.0f %% of "
                        + "the machine's CPU time, up to %s in the step \"%s\". Repeat on an idle machine.",
                busy.size(),
                load.size(),
                BUSY_PERCENT,
                shares(worst.otherPercent(), worst.stolenPercent()),
                worst.step());
    }

    /**
     * Earlier results only have the load average. For benchmarks, it is that before the measurement. For experiments,
     * it includes the experiment itself and is of no use.
     */
    private static String earlierWarning(Result result) {
        String average = result.machine().get("load at the start");
        String processors = result.machine().get("processors");
        if (!"bench".equals(result.kind()) || average == null || processors == null) return "";
        try {
            double lastMinute = Double.parseDouble(average.split(" ", 2)[0]);
            if (lastMinute < Integer.parseInt(processors) / 2.0) return "";
            return String.format(
                    Locale.ROOT,
                    "The machine was busy before the measurement: its load average was %.2f on %s processors. The file "
                            + "does not say how busy it was later. Repeat on an idle machine.",
                    lastMinute,
                    processors);
        } catch (NumberFormatException e) {
            return "";
        }
    }

    /** Describes the load of all steps for the details of the machine. */
    static String summary(Result result) {
        List<Result.Load> load = result.load();
        if (load.isEmpty()) return "not recorded";
        double seconds = load.stream().mapToDouble(Result.Load::seconds).sum();
        double other = 0;
        double stolen = 0;
        for (Result.Load step : load) {
            double weight = seconds > 0 ? step.seconds() / seconds : 1.0 / load.size();
            other += weight * step.otherPercent();
            stolen += weight * step.stolenPercent();
        }
        Result.Load worst = load.stream()
                .max(Comparator.comparingDouble(Result.Load::percent))
                .orElseThrow();
        return "mean " + shares(other, stolen) + "; busiest step "
                + shares(worst.otherPercent(), worst.stolenPercent());
    }

    private static String shares(double other, double stolen) {
        return String.format(
                Locale.ROOT, "%.1f %% (%.1f %% other processes, %.1f %% hypervisor)", other + stolen, other, stolen);
    }
}
