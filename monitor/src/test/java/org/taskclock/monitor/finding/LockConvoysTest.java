// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.taskclock.monitor.attach.ThreadDump;

/** Finds locks, their owners, and convoys in the text of thread dumps. */
class LockConvoysTest {
    private static final long SECOND = 1_000_000_000;

    private final LockConvoys convoys = new LockConvoys();
    private final StringBuilder dump = new StringBuilder();

    private void thread(String name, int tid, String state, String... details) {
        dump.append('"')
                .append(name)
                .append("\" #")
                .append(tid)
                .append(" daemon prio=5 os_prio=0 cpu=1.2ms elapsed=3s")
                .append(" allocated=10K defined_classes=1 tid=0x00007f7b nid=")
                .append(tid)
                .append(" waiting  [0x0]\n")
                .append("   java.lang.Thread.State: ")
                .append(state)
                .append("\n\tat example.Shop.order(Shop.java:7)\n");
        for (String detail : details) dump.append("\t- ").append(detail).append('\n');
        dump.append("\tat example.Shop.run(Shop.java:3)\n\n");
    }

    private LockGraph locks() {
        LockGraph locks = LockGraph.of(ThreadDump.parse(dump.toString()));
        dump.setLength(0);
        return locks;
    }

    private static String waiting(String id) {
        return "waiting to lock <" + id + "> (a example.Cache)";
    }

    /** A dump in which the threads with these ids wait for one lock. */
    private void sample(int second, String id, int owner, int... waiters) {
        if (owner > 0) thread("owner " + owner, owner, "RUNNABLE", "locked <" + id + "> (a example.Cache)");
        for (int waiter : waiters) thread("waiter " + waiter, waiter, "BLOCKED (on object monitor)", waiting(id));
        convoys.add(locks(), second * SECOND);
    }

    @Test
    void shouldFindLocksAndOwners() {
        thread("a", 1, "BLOCKED (on object monitor)", waiting("0x10"));
        thread("b", 2, "RUNNABLE", "locked <0x10> (a example.Cache)");
        thread(
                "c",
                3,
                "WAITING (on object monitor)",
                "waiting on <0x20> (a java.lang.Object)",
                "locked <0x20> (a java.lang.Object)");
        thread(
                "d",
                4,
                "BLOCKED (on object monitor)",
                "waiting to re-lock in wait() <0x30> (a java.lang.Class for example.Shop)",
                "locked <0x30> (a java.lang.Class for example.Shop)");
        thread(
                "e",
                5,
                "WAITING (parking)",
                "parking to wait for  <0x40> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)");
        thread(
                "f",
                6,
                "TIMED_WAITING (parking)",
                "parking to wait for  <0x50> (a"
                        + " java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)");
        thread("g", 7, "WAITING (on object monitor)", "waiting on <no object reference available>");
        LockGraph locks = locks();
        assertThat(locks.of(1)).isEqualTo(new LockGraph.Wait(Thread.State.BLOCKED, "example.Cache", "0x10", true));
        assertThat(locks.ownerOf("0x10").name()).isEqualTo("b");
        assertThat(locks.of(2)).isEqualTo(new LockGraph.Wait(Thread.State.RUNNABLE, "", "", false));
        assertThat(locks.of(3)).isEqualTo(new LockGraph.Wait(Thread.State.WAITING, "java.lang.Object", "0x20", false));
        assertThat(locks.ownerOf("0x20")).describedAs("released by Object.wait").isNull();
        assertThat(locks.of(4)).isEqualTo(new LockGraph.Wait(Thread.State.BLOCKED, "example.Shop.class", "0x30", true));
        assertThat(locks.ownerOf("0x30")).isNull();
        assertThat(locks.of(5).contended()).isTrue();
        assertThat(locks.of(6))
                .matches(w -> w.state() == Thread.State.TIMED_WAITING
                        && !w.contended()
                        && w.lockId().equals("0x50"));
        assertThat(locks.of(7)).isEqualTo(new LockGraph.Wait(Thread.State.WAITING, "", "", false));
        assertThat(locks.of(8)).isNull();
    }

    @Test
    void shouldDistinguishLocksFromOtherReasonsToPark() {
        thread("a", 1, "WAITING (parking)", "parking to wait for  <0x10> (a example.FairLock$Sync)");
        thread("b", 2, "WAITING (parking)", "parking to wait for  <0x20> (a java.util.concurrent.FutureTask)");
        thread("c", 3, "WAITING (parking)");
        thread("d", 4, "unknown");
        LockGraph locks = locks();
        assertThat(locks.of(1).contended()).isTrue();
        assertThat(locks.of(2))
                .matches(wait -> !wait.contended() && wait.lockId().equals("0x20"));
        assertThat(locks.of(3)).isEqualTo(new LockGraph.Wait(Thread.State.WAITING, "", "", false));
        assertThat(locks.of(4).state()).isNull();
    }

    @Test
    void shouldNotBeMisledByNames() {
        thread("x\n\t- locked <0x10> (a example.Cache)\nz", 9, "RUNNABLE");
        thread("a", 1, "BLOCKED (on object monitor)", waiting("0x10"));
        LockGraph locks = locks();
        assertThat(locks.of(9).state()).isEqualTo(Thread.State.RUNNABLE);
        assertThat(locks.ownerOf("0x10")).isNull();
    }

    @Test
    void shouldNotFindTwoWaiters() {
        for (int second = 10; second < 15; second++) sample(second, "0x10", 1, 2, 3);
        assertThat(convoys.findings()).isEmpty();
    }

    /** Two threads that take turns, with a free lock now and then. */
    @Test
    void shouldFindFewThreadsInTurn() {
        for (int second = 1; second < 6; second++) sample(second, "0x10", 1 + second % 2, 2 - second % 2);
        assertThat(convoys.findings()).as("five samples may be a coincidence").isEmpty();
        sample(6, "0x10", 1);
        sample(7, "0x99", 1, 2); // the garbage collector has moved the lock
        Finding found = convoys.findings().get(0);
        assertThat(found.text()).isEqualTo("2 threads wait in turn for the same lock: example.Cache");
        assertThat(found.tid()).isZero();
        assertThat(found.evidence())
                .contains(
                        "threads waited for it in 6 of the last 7 stack samples, 0.9 at a time, and for 6.0 s so far",
                        "these waited: \"waiter 1\", \"waiter 2\"",
                        "held by \"owner 1\" in 3 of 6 samples",
                        "held by \"owner 2\" in 3 of 6 samples");
    }

    /** The lock of a busy server: a thread waits for it in half of the samples. */
    @Test
    void shouldNotFindALockThatIsOftenFree() {
        for (int second = 1; second < 40; second++) {
            if (second % 2 == 0) sample(second, "0x10", second, 100 + second);
            else sample(second, "0x10", 0);
            assertThat(convoys.findings()).isEmpty();
        }
    }

    @Test
    void shouldFindAConvoyWithOneOwner() {
        sample(10, "0x10", 1, 2, 3, 4);
        sample(11, "0x10", 1, 2, 3, 4, 5);
        assertThat(convoys.findings())
                .describedAs("two samples may be a coincidence")
                .isEmpty();
        assertThat(convoys.isContended()).isTrue();
        sample(13, "0x99", 1, 2, 4, 5, 6, 7); // the garbage collector has moved the lock
        Finding found = convoys.findings().get(0);
        assertThat(convoys.findings()).hasSize(1);
        assertThat(found.kind()).isEqualTo(new LockConvoy());
        assertThat(found.tid()).isEqualTo(1);
        assertThat(found.text()).isEqualTo("thread \"owner 1\" holds a lock that 5 threads wait for: example.Cache");
        assertThat(found.evidence())
                .containsExactly(
                        "three or more threads waited for it in 3 stack samples over 3.0 s",
                        "in the last sample: \"waiter 2\", \"waiter 4\", \"waiter 5\", and 2 more",
                        "2 threads waited in each sample for 3.0 s",
                        "held by \"owner 1\" in 3 of 3 samples",
                        "the owner is RUNNABLE at example.Shop.order(Shop.java:7)");
    }

    @Test
    void shouldFindAConvoyThatPassesTheLockOn() {
        sample(1, "0x10", 1, 2, 3, 4);
        sample(2, "0x10", 2, 3, 4, 5);
        sample(3, "0x10", 0, 1, 4, 5);
        Finding found = convoys.findings().get(0);
        assertThat(found.tid()).isZero();
        assertThat(found.text()).isEqualTo("3 threads wait for the same lock: example.Cache");
        assertThat(found.evidence())
                .contains("held by \"owner 1\" in 1 of 3 samples", "held by \"owner 2\" in 1 of 3 samples");
    }

    @Test
    void shouldNotNameTheOwnerInTheTextIfItChanges() {
        for (int second = 1; second < 4; second++) sample(second, "0x10", second, 4, 5, 6);
        Finding found = convoys.findings().get(0);
        assertThat(found.tid()).isZero();
        assertThat(found.text()).isEqualTo("3 threads wait for the same lock: example.Cache");
    }

    @Test
    void shouldReportTheLargestConvoyFirst() {
        for (int second = 1; second < 4; second++) {
            for (int waiter = 2; waiter < 5; waiter++)
                thread("small " + waiter, waiter, "BLOCKED (on object monitor)", waiting("0x10"));
            sample(second, "0x20", 0, 12, 13, 14, 15);
        }
        assertThat(convoys.findings())
                .extracting(Finding::text)
                .containsExactly(
                        "4 threads wait for the same lock: example.Cache",
                        "3 threads wait for the same lock: example.Cache");
    }

    /** The garbage collector may give the place of a lock to another object. */
    @Test
    void shouldNotMistakeALockForAnotherOneOfADifferentClass() {
        for (int second = 1; second < 5; second++) {
            String type = second < 3 ? "example.Cache" : "example.Queue";
            for (int waiter = 2; waiter < 5; waiter++)
                thread(
                        "waiter " + waiter,
                        waiter,
                        "BLOCKED (on object monitor)",
                        "waiting to lock <0x10> (a " + type + ")");
            convoys.add(locks(), second * SECOND);
        }
        assertThat(convoys.findings()).isEmpty();
    }

    @Test
    void shouldNotFindFewWaitersOrDifferentLocks() {
        for (int second = 1; second < 6; second++) sample(second, "0x10", 1, 2, 3);
        for (int second = 1; second < 6; second++)
            sample(second, "0x" + second, 10 * second, 10 * second + 1, 10 * second + 2, 10 * second + 3);
        assertThat(convoys.findings()).isEmpty();
    }

    @Test
    void shouldForgetAConvoyThatHasDissolved() {
        for (int second = 1; second < 5; second++) sample(second, "0x10", 1, 2, 3, 4);
        sample(5, "0x10", 1);
        assertThat(convoys.findings())
                .describedAs("the lock may have been free by chance")
                .hasSize(1);
        sample(6, "0x10", 1);
        assertThat(convoys.findings()).isEmpty();
        assertThat(convoys.isContended()).isFalse();
    }

    @Test
    void shouldForgetConvoysIfThereAreNoNewDumps() {
        for (int second = 1; second < 5; second++) sample(second, "0x10", 1, 2, 3, 4);
        convoys.forgetBefore(4 * SECOND);
        assertThat(convoys.findings()).hasSize(1);
        convoys.forgetBefore(4 * SECOND + 1);
        assertThat(convoys.findings()).isEmpty();
        assertThat(convoys.isContended()).isFalse();
    }

    @Test
    void shouldNotCountTheTimeInWhichNobodyWaited() {
        for (int second = 1; second < 8; second++) {
            if (second == 5) sample(second, "0x10", 1);
            else sample(second, "0x10", 1, 2, 3, 4);
        }
        assertThat(convoys.findings().get(0).evidence())
                .contains(
                        "three or more threads waited for it in 6 stack samples over 6.0 s",
                        "3 threads waited in each sample for 1.0 s");
    }
}
