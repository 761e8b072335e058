// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.monitor.usage.ProcessUsage;
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

    /** Converts CPU usage from percent of one core to the unit of this threshold. */
    double convert(double percentOfCore, ProcessUsage totals) {
        return ofLimit ? percentOfCore / limit(totals) : percentOfCore;
    }

    private static double limit(ProcessUsage totals) {
        return totals.containerCores() > 0 ? totals.containerCores() : totals.processors();
    }

    private static String formatCores(double cores) {
        String number = String.format(Locale.ROOT, "%.2f", cores).replaceFirst("\\.?0+$", "");
        return number + (number.equals("1") ? " core" : " cores");
    }

    /** Returns what 100 % is. */
    String unit(ProcessUsage totals) {
        if (!ofLimit) return "one core";
        return totals.containerCores() > 0
                ? "the limit of " + formatCores(totals.containerCores())
                : "the machine, which has " + totals.processors() + " processors and no limit";
    }
}
