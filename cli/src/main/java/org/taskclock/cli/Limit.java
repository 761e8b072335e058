// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.watch.Totals;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A part of a core, as 50%, or of what the container or else the machine may use, as "50% of limit". */
record Limit(double percent, boolean ofLimit) {
    private static final Pattern FORM = Pattern.compile("([0-9]+(?:\\.[0-9]+)?) *%?( +of +limit)?");

    static final class Converter implements ITypeConverter<Limit> {
        @Override
        public Limit convert(String text) {
            Matcher parts = FORM.matcher(text.trim());
            if (!parts.matches())
                throw new TypeConversionException('"' + text + "\" is not as 50% or \"50% of limit\"");
            return new Limit(Double.parseDouble(parts.group(1)), parts.group(2) != null);
        }
    }

    /** In percent of a core. */
    double ofCore(Totals totals) {
        return ofLimit ? percent * limit(totals) : percent;
    }

    private static double limit(Totals totals) {
        return totals.containerCores() > 0 ? totals.containerCores() : totals.processors();
    }

    String text(Totals totals) {
        String number = String.format(Locale.ROOT, "%.1f %%", percent);
        return ofLimit ? String.format(Locale.ROOT, "%s of the limit of %.1f cores", number, limit(totals)) : number;
    }
}
