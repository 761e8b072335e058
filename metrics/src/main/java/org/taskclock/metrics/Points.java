// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.taskclock.AccountReading;
import org.taskclock.AccountUsage;
import org.taskclock.Distribution;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.metrics.JvmUsage.FindingStatus;
import org.taskclock.metrics.Metric.Point;

/** Makes the values of metrics. */
final class Points {
    private static final long[] BOUNDS_NANOS =
            Metric.BOUNDS.stream().mapToLong(bound -> Math.round(bound * 1e9)).toArray();

    private Points() {}

    static <T> List<Point> each(List<T> usages, Function<T, List<Point>> values) {
        List<Point> points = new ArrayList<>();
        for (T usage : usages) points.addAll(values.apply(usage));
        return points;
    }

    /** Returns the value, unless it is negative, which means unknown. */
    static List<Point> known(Point point) {
        return point.value() < 0 ? List.of() : List.of(point);
    }

    static List<Point> container(JvmUsage usage, ToDoubleFunction<ContainerUsage> value) {
        ContainerUsage container = usage.container();
        return container == null ? List.of() : known(new Point(List.of(), value.applyAsDouble(container)));
    }

    static List<Point> findings(JvmUsage usage, ToDoubleFunction<FindingStatus> value) {
        return each(
                usage.findings(), finding -> List.of(new Point(List.of(finding.kind()), value.applyAsDouble(finding))));
    }

    static Point pool(PoolUsage pool, long value, double unit, String... attributes) {
        List<String> all = new ArrayList<>(List.of(pool.pool(), pool.kind().label()));
        all.addAll(List.of(attributes));
        return new Point(List.copyOf(all), value / unit);
    }

    static List<Point> accounts(JvmUsage usage, ToLongFunction<AccountUsage> value, double unit) {
        // The time outside sections has neither.
        return each(
                usage.accounts(),
                account -> account.name().equals(AccountReading.UNACCOUNTED)
                        ? List.of()
                        : known(new Point(List.of(account.type(), account.name()), value.applyAsLong(account) / unit)));
    }

    /** An observation just below a bound may count for the next bucket, see {@link Distribution#countBelow}. */
    static Point histogram(Distribution sections, String... attributes) {
        List<Long> counts =
                Arrays.stream(sections.countsBetween(BOUNDS_NANOS)).boxed().toList();
        return new Point(List.of(attributes), sections.sumNanos() / 1e9, counts);
    }

    static Point seconds(long nanos, String... attributes) {
        return new Point(List.of(attributes), nanos / 1e9);
    }
}
