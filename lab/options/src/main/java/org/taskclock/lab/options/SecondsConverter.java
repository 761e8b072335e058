// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import org.taskclock.monitor.usage.DurationText;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts durations such as 500ms or 10m to seconds. */
final class SecondsConverter implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
        try {
            return DurationText.parse(text).toNanos() / 1e9;
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
