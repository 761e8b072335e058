// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What explains a finding after it has ended: a thread dump that says what each thread has just used, a profile of the
 * threads concerned, and the finding itself.
 *
 * @param kind the kind of the finding
 * @param text the finding in one line
 * @param since when it began
 * @param taken when this was complete
 * @param files the content of each file by its name
 */
public record Evidence(String kind, String text, Instant since, Instant taken, Map<String, String> files) {
    /** The name of the file with the profile as collapsed stacks. */
    public static final String PROFILE = "profile.collapsed";

    /** The name of the file with the figures of this profile, as JSON. */
    public static final String FIGURES = "profile.json";

    /** The name of the file with the thread dump. */
    public static final String THREADS = "threads.txt";

    /** The name of the file with the finding, and with the reasons why others are missing. */
    public static final String WHY = "why.txt";

    /** Characters of a file. Compressed, it mostly has a tenth. */
    public static final int MAX_FILE = 4 << 20;

    public Evidence {
        files = new LinkedHashMap<>(files);
    }
}
