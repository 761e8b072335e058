// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.MeasuredDump;

/** Takes {@link Evidence} of a finding. */
public final class FindingProfiler {
    private static final Duration MEASURED = Duration.ofSeconds(1);
    private static final Duration PROFILED = Duration.ofSeconds(5);

    /** Also a thread of which only its pool is known, as in serve. */
    private static final Pattern OF_POOL = Pattern.compile("[^\"]*(?:pool|thread|virtual threads on) \"");

    private FindingProfiler() {}

    /** A file. */
    @FunctionalInterface
    private interface Content {
        String text() throws IOException;
    }

    /**
     * Takes evidence, which takes about six seconds. What cannot be had is missing, and {@link Evidence#WHY} says why.
     *
     * @param program the name of the program
     */
    static Evidence take(long pid, String program, DatedFinding dated) {
        Finding finding = dated.finding();
        StringBuilder why = new StringBuilder(String.join(
                        "\n",
                        finding.kind() + ": " + finding.text(),
                        "process " + pid + " (" + program + "), since " + dated.since(),
                        String.join("\n", finding.evidence()),
                        finding.kind().meaning(),
                        finding.kind().action()))
                .append('\n');
        Map<String, String> files = new LinkedHashMap<>();
        add(files, why, Evidence.THREADS, () -> MeasuredDump.take(pid, MEASURED, FindingProfiler::sleep));
        add(files, why, Evidence.PROFILE, () -> profile(pid, finding, why, files));
        files.put(Evidence.WHY, why.toString());
        return new Evidence(finding.kind().id(), finding.text(), dated.since(), Instant.now(), files);
    }

    private static void add(Map<String, String> files, StringBuilder why, String name, Content content) {
        try {
            String text = content.text();
            if (text.length() > Evidence.MAX_FILE) why.append(name).append(" is cut\n");
            files.put(name, text.substring(0, Math.min(Evidence.MAX_FILE, text.length())));
        } catch (IOException e) {
            why.append("without ")
                    .append(name)
                    .append(": ")
                    .append(e.getMessage())
                    .append('\n');
        }
    }

    private static String profile(long pid, Finding finding, StringBuilder why, Map<String, String> files)
            throws IOException {
        Profile profile = profile(pid, selection(finding), PROFILED);
        files.put(Evidence.FIGURES, ProfileFigures.of(profile).json());
        why.append(String.format(
                Locale.ROOT, "%,d samples of %s, %s%n", profile.samples(), profile.threads(), profile.source()));
        String calls = profile.describeSystemCalls();
        if (!calls.isEmpty()) why.append("system calls: ").append(calls).append('\n');
        for (String note : profile.notes()) why.append("note: ").append(note).append('\n');
        return profile.collapsed();
    }

    /** Profiles threads, by line, with the best source that works. */
    public static Profile profile(long pid, ProfileSelection selection, Duration duration) throws IOException {
        Profile profile;
        try {
            profile = profile(pid, selection, ProfileSource.AUTO, duration);
        } catch (ProfileException e) {
            // async-profiler may be in use, also for continuous profiles.
            profile = profile(pid, selection, ProfileSource.JFR, duration);
        }
        // Before JDK 25, Flight Recorder does not sample native code, such as that of Thread.yield.
        return profile.samples() > 0 ? profile : profile(pid, selection, ProfileSource.STACKS, duration);
    }

    private static Profile profile(long pid, ProfileSelection selection, ProfileSource source, Duration duration)
            throws IOException {
        Profiler.Settings settings =
                new Profiler.Settings(selection, source, null, duration, Profiler.DEFAULT_PERIOD.toNanos(), true);
        return Profiler.run(pid, settings, FindingProfiler::sleep);
    }

    private static ProfileSelection selection(Finding finding) {
        if (finding.tid() > 0) return ProfileSelection.thread(Integer.toString(finding.tid()));
        boolean isOfPool = OF_POOL.matcher(finding.text()).lookingAt();
        return isOfPool ? ProfileSelection.pool(finding.subject()) : ProfileSelection.all();
    }

    /** Waits, or returns false early if the thread is interrupted, which it then still is. */
    public static boolean sleep(Duration duration) {
        try {
            Thread.sleep(duration.toMillis());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
