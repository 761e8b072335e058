// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.monitor.finding.CpuContention;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingTracker;
import org.taskclock.testing.LoadJvm;

/** Programs that have a problem, and programs that only look like it. */
@Tag("slow17")
class SamplerFindingsTest {
    private static final int MAX_SECONDS = 90;

    private static Sampler sampler(LoadJvm jvm) throws Exception {
        Sampler sampler = Sampler.of(jvm.pid());
        sampler.next();
        return sampler;
    }

    @ParameterizedTest
    @CsvSource({
        "monitor-in-turn 4, lock-convoy, threads wait",
        "monitor-in-turn 2, lock-convoy, 2 threads wait in turn for the same lock: java.util.BitSet",
        "lock-in-turn 3, lock-convoy, 3 threads wait in turn for the same lock:",
        "in-turn-and-yield 4, lock-convoy, threads wait",
        "spin 1, busy-wait, 'thread \"spinner-1\" keeps running without blocking at '",
        "timer 2, timer-storm, wakes up",
        "scheduled 40, timer-storm, wakes up",
        "churn 1, thread-churn, threads start per second",
        "safepoints 300, safepoints, the JVM has stopped all threads for",
        "exceptions 1, exception-storm, 'thread \"parser-1\" keeps creating exceptions'",
        "backtracking 1, regex-backtracking, keeps matching a regular expression",
        "blocked-common-pool 60, common-pool-blocked, 'of pool \"ForkJoinPool.commonPool-worker-#\" wait'",
        "leak 2, thread-leak, 'pool \"leaked-#\" has grown from '",
        "leaked 600, thread-leak, 'pool \"leaked-#\" has had more than 500 threads for '",
        "one-of-pool 8, pool-imbalance, 'thread \"loop-1\" does all the work of its pool of 8 threads'",
    })
    void shouldFind(String program, String kind, String text) throws Exception {
        List<Finding> all = new ArrayList<>();
        try (LoadJvm jvm = LoadJvm.startProgram(ProblemProgram.class, program.split(" ", -1));
                Sampler sampler = sampler(jvm)) {
            for (int i = 0; i < MAX_SECONDS; i++) {
                Thread.sleep(1_000);
                all.addAll(sampler.next().findings());
                if (all.stream().anyMatch(finding -> isAbout(finding, kind, text))) return;
            }
        }
        assertThat(all).as(program).anyMatch(finding -> isAbout(finding, kind, text));
    }

    private static boolean isAbout(Finding finding, String kind, String text) {
        return finding.kind().id().equals(kind) && finding.text().contains(text);
    }

    /** What looks like a problem, but is none. */
    @ParameterizedTest
    @CsvSource({
        "idle 20, 20",
        "server 8, 30",
        "compute 1, 20",
        "few-exceptions 1, 20",
        "matching 1, 20",
        "busy-common-pool 60, 20"
    })
    void shouldNotFindAnything(String program, int seconds) throws Exception {
        try (LoadJvm jvm = LoadJvm.startProgram(ProblemProgram.class, program.split(" ", -1));
                Sampler sampler = sampler(jvm)) {
            FindingTracker tracker = new FindingTracker();
            for (int i = 0; i < seconds; i++) {
                Thread.sleep(1_000);
                Interval interval = sampler.next();
                tracker.add(interval.findings(), interval.end().minusNanos(interval.intervalNanos()));
                // Other tests use the machine, too.
                assertThat(tracker.current())
                        .as("%s after %d s", program, i)
                        .extracting(DatedFinding::finding)
                        .filteredOn(finding -> !(finding.kind() instanceof CpuContention))
                        .isEmpty();
            }
        }
    }
}
