// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The alerts for findings that only serve finds. */
class FindingAlertTest {
    static Stream<FindingKind> found() {
        return FindingKinds.ALL.stream().filter(kind -> kind.alerts().equals(List.of(Alert.ofFinding(kind))));
    }

    /** serve sees it in one JVM every third minute, and in the other saw it once. */
    @ParameterizedTest
    @MethodSource("found")
    void shouldBeRaisedForAFindingThatReturns(FindingKind kind) throws Exception {
        String series = """
                taskclock_finding{jvm="orders-7",taskclock_finding_kind="%1$s"} 0 0 1 0 0 1 0 0 1 0 0 1 0 0 0 0 0 0 0
                taskclock_finding{jvm="orders-8",taskclock_finding_kind="%1$s"} 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
                taskclock_finding{jvm="orders-9",taskclock_finding_kind="none"} 1x18""".formatted(kind.id());
        String name = Alert.ofFinding(kind).name();
        AlertRules.check(kind, 6, series, name, "");
        AlertRules.check(kind, 7, series, name, """
                {jvm="orders-7",taskclock_finding_kind="%1$s"} orders-7 on host:10077: finding %1$s; the page of \
                taskclock serve explains it, and says since when""".formatted(kind.id()));
        AlertRules.check(kind, 16, series, name, "");
    }

    @Test
    void shouldBeTheOnlyOneOfItsKind() {
        assertThat(found()).map(FindingKind::id).contains("lock-convoy", "busy-wait", "pool-imbalance");
        for (FindingKind kind : FindingKinds.ALL) {
            List<Alert> alerts = kind.alerts();
            assertThat(alerts).as(kind.id()).isNotEmpty();
            if (found().noneMatch(kind::equals))
                assertThat(alerts).extracting(Alert::condition).noneMatch(each -> each.contains("taskclock_finding"));
        }
    }
}
