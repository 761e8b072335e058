// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Formats times in the time zone of the page. */
final class WallClock {
    private static final DateTimeFormatter DATE_AND_TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    private final ZoneId zone;

    WallClock(ZoneId zone) {
        this.zone = zone;
    }

    /** Returns the name of the zone, which a browser also knows: a region, "UTC", or an offset such as "+02:00". */
    String zone() {
        ZoneId normalized = zone.normalized();
        return normalized.equals(ZoneOffset.UTC) ? "UTC" : normalized.getId();
    }

    String dateAndTime(Instant instant) {
        return DATE_AND_TIME.format(instant.atZone(zone));
    }

    String time(Instant instant) {
        return TIME.format(instant.atZone(zone));
    }

    /** Formats a time between two others, with its date if they are on different days. */
    String timeWithin(Instant start, Instant end, Instant instant) {
        boolean sameDay =
                start.atZone(zone).toLocalDate().equals(end.atZone(zone).toLocalDate());
        return sameDay ? time(instant) : dateAndTime(instant);
    }

    /** Returns when a result was measured. Other times than in ISO 8601 are not converted. */
    String period(Result result) {
        if (result.started() == null || result.ended() == null) return "";
        Instant start = parse(result.started());
        Instant end = parse(result.ended());
        if (start == null || end == null) return result.started() + " to " + result.ended();
        boolean sameDay = timeWithin(start, end, end).equals(time(end));
        return dateAndTime(start) + " to " + (sameDay ? time(end) : dateAndTime(end)) + " (" + zone() + ")";
    }

    /** Returns null if the text is not in ISO 8601. */
    static Instant parse(String text) {
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeException e) {
            return null;
        }
    }
}
