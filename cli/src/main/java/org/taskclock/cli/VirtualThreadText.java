// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Locale;
import org.taskclock.metrics.VirtualThreadCounts;

/** Formats the states of virtual threads. */
final class VirtualThreadText {
    private VirtualThreadText() {}

    static String format(VirtualThreadCounts counts) {
        String text = String.format(Locale.ROOT, "%,d live, %,d mounted", counts.live(), counts.mounted());
        return counts.queued() < 0 ? text : text + String.format(Locale.ROOT, ", %,d queued", counts.queued());
    }
}
