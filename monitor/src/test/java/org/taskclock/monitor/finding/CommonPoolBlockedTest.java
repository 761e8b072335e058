// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.monitor.usage.ThreadUsage;

class CommonPoolBlockedTest {
    private static final String TASK = """
            \tat java.util.concurrent.CompletableFuture$AsyncRun.run(java.base@25/CompletableFuture.java:1825)
            \tat java.util.concurrent.ForkJoinTask.doExec(java.base@25/ForkJoinTask.java:511)
            \tat java.util.concurrent.ForkJoinPool.runWorker(java.base@25/ForkJoinPool.java:2073)
            """;
    private static final String SLEEPING = """
               java.lang.Thread.State: TIMED_WAITING (sleeping)
            \tat java.lang.Thread.sleep0(java.base@25/Native Method)
            \tat example.Backend.call(Backend.java:7)
            """ + TASK;
    private static final String READING = """
               java.lang.Thread.State: RUNNABLE
            \tat sun.nio.ch.SocketDispatcher.read0(java.base@25/Native Method)
            \tat example.Backend.read(Backend.java:9)
            """ + TASK;
    private static final String COMPUTING = """
               java.lang.Thread.State: RUNNABLE
            \tat example.Report.sum(Report.java:3)
            """ + TASK;
    private static final String IDLE = """
               java.lang.Thread.State: WAITING (parking)
            \tat jdk.internal.misc.Unsafe.park(java.base@25/Native Method)
            \tat java.util.concurrent.ForkJoinPool.awaitWork(java.base@25/ForkJoinPool.java:2145)
            \tat java.util.concurrent.ForkJoinPool.runWorker(java.base@25/ForkJoinPool.java:2101)
            """;
    private static final String COMPENSATED = """
               java.lang.Thread.State: WAITING (parking)
            \tat java.util.concurrent.CompletableFuture$Signaller.block(java.base@25/CompletableFuture.java:1872)
            \tat java.util.concurrent.ForkJoinPool.managedBlock(java.base@25/ForkJoinPool.java:4020)
            """ + TASK;
    private static final String CLIENT = """
               java.lang.Thread.State: WAITING (parking)
            \tat java.util.concurrent.CompletableFuture.waitingGet(java.base@25/CompletableFuture.java:1890)
            """;

    private static final Map<String, String> STACKS =
            Map.of("SLEEPING", SLEEPING, "COMPUTING", COMPUTING, "IDLE", IDLE, "COMPENSATED", COMPENSATED);

    private CommonPool pool;

    @BeforeEach
    void create() {
        pool = new CommonPool();
    }

    private static String entry(String name, int tid, String stack) {
        return "\"%s\" #%d [%d] daemon prio=5 os_prio=0 cpu=1.00ms elapsed=9.00s tid=0x00007f nid=%d waiting  [0x01]\n%s\n"
                .formatted(name, tid, tid, tid, stack);
    }

    private static ThreadDump dump(String... stacks) {
        StringBuilder text = new StringBuilder("Full thread dump\n\n").append(entry("http-1", 30, CLIENT));
        for (int i = 0; i < stacks.length; i++) text.append(entry(CommonPool.WORKER + (i + 1), 40 + i, stacks[i]));
        return ThreadDump.parse(text.toString());
    }

    /** Adds a dump each second. */
    private void add(int parallelism, int dumps, String... stacks) {
        ThreadDump dump = dump(stacks);
        for (int i = 0; i < dumps; i++) pool.add(dump, LockGraph.of(dump), i * SECOND, parallelism);
    }

    private List<Finding> findings(int workers, long cpu) {
        List<ThreadUsage> threads = new ArrayList<>();
        for (int i = 0; i < workers; i++)
            threads.add(Observations.thread(40 + i, CommonPool.WORKER + (i + 1), ThreadKind.JAVA, cpu, 0, 0, 1));
        return Observations.ofThreads(threads, 0, 0, JvmCounters.UNKNOWN, new ThreadHistory(), pool)
                .findings();
    }

    @Test
    void shouldFindTasksThatWaitInAllThreads() {
        add(3, 10, SLEEPING, READING, SLEEPING, COMPENSATED);
        assertThat(pool.isSuspicious()).isTrue();
        Finding found = findings(4, 2).get(0);
        assertThat(found.kind()).isEqualTo(new CommonPoolBlocked());
        assertThat(found.text()).isEqualTo("all 3 threads of pool \"ForkJoinPool.commonPool-worker-#\" wait in tasks");
        assertThat(found.evidence())
                .containsExactly(
                        "all of them waited in a task in each of the last 10 thread dumps, over 9 s",
                        "2 of 3 were at example.Backend.call(Backend.java:7) in the last one",
                        "1 thread waits for the result of a task");
        assertThat(found.earlierNanos()).isEqualTo(8 * SECOND);
    }

    @Test
    void shouldNotFindThreadsThatRun() {
        add(2, 10, SLEEPING, READING);
        assertThat(findings(2, 200)).isEmpty();
    }

    @Test
    void shouldNotFindWhatHasNotLasted() {
        add(2, 8, SLEEPING, READING);
        assertThat(findings(2, 0)).isEmpty();
        add(2, 1, SLEEPING, IDLE);
        assertThat(pool.isSuspicious()).isFalse();
        add(2, 8, SLEEPING, READING);
        assertThat(findings(2, 0)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "2, SLEEPING, IDLE, one is free",
        "2, SLEEPING, COMPUTING, one works",
        "3, SLEEPING, SLEEPING, there can be another one",
        "2, SLEEPING, COMPENSATED, another one replaces it",
        "2, IDLE, IDLE, there are no tasks",
        "0, SLEEPING, SLEEPING, it is not known how many there can be",
    })
    void shouldNotFindPoolsThatCanRunOtherTasks(int parallelism, String one, String other, String description) {
        add(parallelism, 20, STACKS.get(one), STACKS.get(other));
        assertThat(findings(2, 0)).as(description).isEmpty();
        assertThat(pool.isSuspicious()).as(description).isFalse();
    }

    @Test
    void shouldKnowHowManyTasksRunAtTheSameTime() {
        assertThat(CommonPool.parallelism("", 4)).isEqualTo(3);
        assertThat(CommonPool.parallelism("-Xmx1g", 1)).isEqualTo(1);
        assertThat(CommonPool.parallelism("-Xmx1g -XX:ActiveProcessorCount=8", 4))
                .isEqualTo(7);
        String property = "-Djava.util.concurrent.ForkJoinPool.common.parallelism=";
        assertThat(CommonPool.parallelism(property + "16 -Xmx1g " + property + "0", 4))
                .isZero();
    }
}
