// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.SystemHeavy;
import org.taskclock.monitor.finding.YieldStorm;
import org.taskclock.testing.LoadJvm;

class EvidenceTakerTest {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    private static Finding finding(FindingKind kind, String thread) {
        return new Finding(kind, 0, "thread \"" + thread + "\" is bad", List.of());
    }

    @Test
    void shouldLimitHowOftenItIsTaken() {
        EvidenceTaker evidence = new EvidenceTaker(Clock.systemUTC(), (jvm, taken) -> {}, message -> {});
        Finding storm = finding(new YieldStorm(), "a");
        assertThat(evidence.mayTake("1", storm, START)).isTrue();
        assertThat(evidence.mayTake("1", finding(new SystemHeavy(), "b"), START.plusSeconds(59)))
                .as("of the same JVM within a minute")
                .isFalse();
        assertThat(evidence.mayTake("2", storm, START.plusSeconds(59))).isTrue();
        assertThat(evidence.mayTake("1", storm, START.plusSeconds(3_599)))
                .as("the same cause within an hour")
                .isFalse();
        assertThat(evidence.mayTake("1", finding(new YieldStorm(), "b"), START.plusSeconds(60)))
                .isTrue();
        assertThat(evidence.mayTake("1", storm, START.plusSeconds(3_600))).isTrue();
        Instant later = START.plusSeconds(10_000);
        for (int i = 0; i < 12; i++)
            assertThat(evidence.mayTake("jvm " + i, storm, later)).isTrue();
        assertThat(evidence.mayTake("another", storm, later.plusSeconds(3_599)))
                .as("a thirteenth within an hour")
                .isFalse();
        assertThat(evidence.mayTake("another", storm, later.plusSeconds(3_600))).isTrue();
    }

    @Test
    void shouldSayWhatIsMissing() {
        DatedFinding finding = new DatedFinding(finding(new YieldStorm(), "a"), START);
        Evidence evidence = FindingProfiler.take(999_999_999, "service", finding);
        assertThat(evidence.files()).containsOnlyKeys(Evidence.WHY);
        assertThat(evidence.files().get(Evidence.WHY))
                .contains(
                        "yield-storm: thread \"a\" is bad",
                        "since 2026-11-21T10:00:00Z",
                        "without threads.txt: there is no process 999999999",
                        "without profile.collapsed: ");
    }

    @Test
    void shouldKeepWhatThereIsOfAJvmThatEnds() throws Exception {
        BlockingQueue<Evidence> taken = new LinkedBlockingQueue<>();
        try (LoadJvm load = LoadJvm.start("busy");
                EvidenceTaker taker =
                        new EvidenceTaker(Clock.systemUTC(), (jvm, evidence) -> taken.add(evidence), message -> {})) {
            taker.start();
            taker.begin(
                    new EvidenceTaker.Jvm("1", load.pid(), "load"),
                    new DatedFinding(finding(new YieldStorm(), "busy"), START));
            TimeUnit.SECONDS.sleep(3);
            ProcessHandle.of(load.pid()).orElseThrow().destroyForcibly();
            Evidence evidence = taken.poll(60, TimeUnit.SECONDS);
            assertThat(evidence).isNotNull();
            assertThat(evidence.files().get(Evidence.WHY))
                    .containsPattern("without " + Evidence.PROFILE + ": .*process " + load.pid() + "\\b");
        }
    }
}
