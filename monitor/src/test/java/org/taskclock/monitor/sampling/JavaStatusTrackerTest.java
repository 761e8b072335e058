// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.finding.LockGraph;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ThreadUsage;

/** The Java status that follows from several dumps of one thread. */
class JavaStatusTrackerTest {
    private static final long SECOND = 1_000_000_000;
    private static final int TID = 16;
    private static final String BLOCKED = "BLOCKED (on object monitor)\n\t- waiting to lock <0x10> (a example.Cache)";
    private static final String RUNNING = "RUNNABLE";
    private static final String SLEEPING = "TIMED_WAITING (sleeping)";

    private final JavaStatusTracker tracker = new JavaStatusTracker();

    private void dump(int second, long javaId, String allocated, String state) {
        ThreadDump dump =
                ThreadDump.parse("\"worker\" #" + javaId + " prio=5 os_prio=0 cpu=1.00ms allocated=" + allocated
                        + " tid=0x00007f nid=" + TID + " waiting  [0x1]\n   java.lang.Thread.State: " + state + "\n\n");
        tracker.add(dump, LockGraph.of(dump), second * SECOND);
    }

    /** Returns the status in an interval of a second. */
    private JavaStatus status(long javaId, long cpuNanos, long waitNanos, long switches, boolean fresh) {
        List<ThreadUsage> usages = new ArrayList<>(List.of(ThreadUsage.of(1, TID, "worker", ThreadKind.JAVA)
                .javaId(javaId)
                .cpu(cpuNanos, cpuNanos)
                .waited(waitNanos)
                .switches(switches, 0)
                .state('S')
                .build()));
        tracker.apply(usages, SECOND, fresh);
        return usages.get(0).java();
    }

    @Test
    void shouldEstimateTheBlockedTimeFromSeveralDumps() {
        dump(1, 5, "0B", BLOCKED);
        assertThat(status(5, 0, 0, 1, true).blockedNanos()).isEqualTo(SECOND);
        dump(2, 5, "0B", RUNNING);
        assertThat(status(5, 0, 0, 1, true).blockedNanos()).isEqualTo(7 * SECOND / 10);
        dump(3, 5, "0B", SLEEPING);
        JavaStatus status = status(5, 0, 0, 1, true);
        assertThat(status.blockedNanos()).isEqualTo(49 * SECOND / 100);
        assertThat(status.waitedNanos()).isEqualTo(3 * SECOND / 10);
        assertThat(status.state()).isEqualTo(Thread.State.TIMED_WAITING);
    }

    @Test
    void shouldNotCountTimeInWhichTheThreadRanOrWaitedForAProcessor() {
        dump(1, 5, "0B", BLOCKED);
        assertThat(status(5, 6 * SECOND / 10, SECOND / 10, 1, true).blockedNanos())
                .isEqualTo(3 * SECOND / 10);
    }

    @Test
    void shouldForgetTheStateOfAThreadThatHasRunSince() {
        dump(1, 5, "0B", BLOCKED);
        assertThat(status(5, 0, 0, 0, false).state())
                .describedAs("it has not run")
                .isEqualTo(Thread.State.BLOCKED);
        assertThat(status(5, SECOND, 0, 1, false).state()).isNull();
        JavaStatus later = status(5, 0, 0, 0, false);
        assertThat(later.state()).describedAs("it has run before").isNull();
        assertThat(later.blockedNanos()).isEqualTo(-1);
    }

    @Test
    void shouldNotMistakeAThreadForAnEarlierOneWithItsId() {
        dump(1, 5, "100B", BLOCKED);
        dump(2, 5, "300B", BLOCKED);
        assertThat(status(5, 0, 0, 0, true).allocatedBytes()).isEqualTo(200);
        assertThat(status(6, 0, 0, 0, true)).isEqualTo(JavaStatus.UNKNOWN);
        dump(3, 6, "9000B", RUNNING);
        assertThat(status(6, 0, 0, 1, true).allocatedBytes()).isEqualTo(-1);
        assertThat(status(6, 0, 0, 1, true).blockedNanos()).isZero();
    }
}
