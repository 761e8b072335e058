// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * The scale of bars in a table.
 *
 * @param low the value of a bar without length
 */
record BarScale(double low, double high, boolean isLogarithmic) {
    /** On a linear scale, the shortest bar would be invisible if the longest is longer by more than this factor. */
    private static final double LONGEST_LINEAR = 20;

    private static final int COLORS = 4;

    /** Bars in one cell of a table. */
    record Cell(String markup) {}

    static BarScale of(List<Result.Bar> bars) {
        Supplier<DoubleStream> values =
                () -> bars.stream().flatMapToDouble(bar -> Stream.of(bar.value(), bar.low(), bar.high())
                        .filter(Objects::nonNull)
                        .mapToDouble(Double::doubleValue));
        double min = values.get().min().orElse(0);
        double max = values.get().max().orElse(1);
        boolean log = min > 0 && max / min > LONGEST_LINEAR;
        return new BarScale(log ? Math.pow(10, Math.floor(Math.log10(min) - 0.01)) : Math.min(0, min), max, log);
    }

    /** Returns the place of a value, in percent of the width. */
    private double place(double value) {
        double part = isLogarithmic
                ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
                : (value - low) / (high - low);
        return Double.isFinite(part) ? 100 * part : 0;
    }

    /** Returns the class of the i-th bar in a cell. */
    static String color(int i) {
        return "bar-" + i % COLORS;
    }

    /** Returns bars below each other. Null takes the place of one that is missing. */
    Cell cell(List<Result.Bar> bars) {
        StringBuilder markup = new StringBuilder();
        for (int i = 0; i < bars.size(); i++) {
            Result.Bar bar = bars.get(i);
            markup.append("<div class=\"").append(color(i)).append("\">");
            if (bar != null) {
                double zero = isLogarithmic ? 0 : place(0);
                double end = place(bar.value());
                String style = bar.published() ? "published" : "measured";
                markup.append(span(style, Math.min(zero, end), Math.max(zero, end)));
                if (bar.low() != null && bar.high() != null)
                    markup.append(span("spread", place(bar.low()), place(bar.high())));
            }
            markup.append("</div>");
        }
        return new Cell(markup.toString());
    }

    private static String span(String style, double from, double to) {
        return String.format(
                Locale.ROOT, "<i class=\"%s\" style=\"left:%.2f%%;width:%.2f%%\"></i>", style, from, to - from);
    }

    String note() {
        return isLogarithmic ? "<p class=\"note\">Logarithmic scale: compare the numbers, not the lengths.</p>\n" : "";
    }
}
