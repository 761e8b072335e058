// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.usage.ThreadUsage;

class TimerStormTest {
    @ParameterizedTest
    @CsvSource({
        "40, 5000, 9, true,  it sleeps for very short times",
        "40, 5000, 7, false, a worker that often has a task to do",
        "90,  600, 9, false, it does much each time",
        "40,  400, 9, false, it wakes up now and then",
    })
    void shouldFindThreadsThatSleepForShortTimes(
            long cpu, long switches, int timerSamples, boolean isFound, String description) {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = 10;
        stacks.timerSamples = timerSamples;
        stacks.topCaller = "at example.Poller.run(Poller.java:3)";
        ThreadUsage thread = Observations.thread(8, "poller-1", ThreadKind.JAVA, cpu, cpu / 2, 0, switches);
        Finding found =
                Observations.only(Observations.ofThread(thread, stacks, 0, -1), new TimerStorm(), isFound, description);
        if (!isFound) return;
        assertThat(found.text())
                .isEqualTo("thread \"poller-1\" wakes up 5,000 times per second, and uses 8 µs of CPU time each time");
        assertThat(found.evidence())
                .contains(
                        "it slept for a limited time in 9 of 10 stack samples",
                        "it slept at example.Poller.run(Poller.java:3)");
    }

    @Test
    void shouldExplainWhyAThreadIsInTheKernel() {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = 10;
        stacks.timerSamples = 10;
        ThreadUsage thread = Observations.thread(8, "poller-1", ThreadKind.JAVA, 200, 180, 0, 9_000);
        Observations.only(Observations.ofThread(thread, stacks, 0, -1), new TimerStorm(), true, "not system-heavy");
        assertThat(new SystemHeavy().mayBe(new TimerStorm()))
                .as("it began when the figures showed it, before any sample")
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "TIMED_WAITING, java.lang.Thread.sleep0, example.Poller.run, true",
        "TIMED_WAITING, java.util.concurrent.locks.LockSupport.parkNanos, example.Poller.run, true",
        "RUNNABLE, java.util.concurrent.locks.LockSupport.parkNanos, example.Poller.run, true",
        "TIMED_WAITING, java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take, java.lang.T.run, true",
        "WAITING, java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take, java.lang.T.run, false",
        "TIMED_WAITING, java.util.TimerThread.mainLoop, java.util.TimerThread.run, true",
        "WAITING, java.util.TimerThread.mainLoop, java.util.TimerThread.run, false",
        "TIMED_WAITING, java.util.concurrent.locks.LockSupport.parkNanos, java.util.concurrent.Queue.poll, false",
        "WAITING, java.util.concurrent.locks.LockSupport.park, example.Queue.take, false",
        "RUNNABLE, sun.nio.ch.EPoll.wait, example.Loop.run, false",
    })
    void shouldDistinguishTimersFromQueuesOfTasks(String state, String frame, String caller, boolean isTimer) {
        String text = """
                "poller-1" #8 [8] prio=5 os_prio=0 cpu=1ms elapsed=1s allocated=10K defined_classes=1 tid=0x07 nid=8 waiting
                   java.lang.Thread.State: %s (parking)
                \tat %s(Native Method)
                \tat %s(Unknown Source)
                """.formatted(state, frame, caller);
        assertThat(ThreadDump.parse(text).of(8).isTimer()).isEqualTo(isTimer);
    }
}
