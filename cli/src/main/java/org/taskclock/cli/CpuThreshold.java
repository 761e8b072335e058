// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.monitor.ProcessUsage;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A threshold in percent of one core ("50%"), or of the CPU limit of the container or machine ("50% of limit"). */
record CpuThreshold(double percent, boolean ofLimit) {
    private static final Pattern FORMAT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?) *%?( +of +limit)?");

    static final class Converter implements ITypeConverter<CpuThreshold> {
        @Override
        public CpuThreshold convert(String text) {
            Matcher parts = FORMAT.matcher(text.trim());
            if (!parts.matches())
                throw new TypeConversionException('"' + text + "\" is not a threshold such as 50% or \"50% of limit\"");
            return new CpuThreshold(Double.parseDouble(parts.group(1)), parts.group(2) != null);
        }
    }

    /** Returns the threshold in percent of one core. */
    double percentOfCore(ProcessUsage totals) {
        return ofLimit ? percent * limit(totals) : percent;
    }

    private static double limit(ProcessUsage totals) {
        return totals.containerCores() > 0 ? totals.containerCores() : totals.processors();
    }

    String format(ProcessUsage totals) {
        String number = String.format(Locale.ROOT, "%.1f %%", percent);
        return ofLimit ? String.format(Locale.ROOT, "%s of the limit of %.1f cores", number, limit(totals)) : number;
    }
}
