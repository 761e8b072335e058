// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests thread names as the JVM and the kernel report them. */
class ThreadNamesTest {
    @ParameterizedTest
    @CsvSource({
        "GC Thread#3, GC",
        "G1 Conc#0, GC",
        "ZWorker#1, GC",
        "Shenandoah GC T, GC",
        "C2 CompilerThread0, JIT",
        "C2 CompilerThre, JIT",
        "C2 Comp..hread0, JIT",
        "Sweeper thread, JIT",
        "VM Thread, VM",
        "VM Periodic Tas, VM",
        "VM Peri..Thread, VM",
        "Signal ..atcher, VM",
        "Reference Handl, VM",
        "VM of a customer, JAVA",
        "G1, JAVA",
        "Zebra, JAVA",
        "http-nio-8080-e, JAVA"
    })
    void shouldRecognizeThreadsOfTheJvm(String name, ThreadUsage.Kind kind) {
        assertThat(ThreadNames.kind(name)).isEqualTo(kind);
    }

    @Test
    void shouldRecognizeCarriers() {
        for (String name : List.of("ForkJoinPool-1-worker-12", "ForkJoinPool-1-", "ForkJoi..rker-1"))
            assertThat(ThreadNames.isCarrier(name)).as(name).isTrue();
        for (String name :
                List.of("ForkJoinPool-1-delayScheduler", "ForkJoi..eduler", "ForkJoinPool-2-worker-1", "main"))
            assertThat(ThreadNames.isCarrier(name)).as(name).isFalse();
    }

    @Test
    void shouldReplaceNumbersInPoolNames() {
        assertThat(ThreadNames.pool("pool-12-thread-345")).isEqualTo("pool-#-thread-#");
        assertThat(ThreadNames.pool("main")).isEqualTo("main");
    }

    @Test
    void shouldParseDumpsOfAllJdks() {
        ThreadDump dump = ThreadDump.parse("""
                2026-11-21 12:00:00
                Full thread dump:

                "main" #1 prio=5 os_prio=0 cpu=32.06ms elapsed=1.54s tid=0x00007f7b900178b0 nid=0x3dd5 waiting  [0x0]
                   java.lang.Thread.State: TIMED_WAITING (sleeping)
                \tat java.lang.Thread.sleep(java.base@17.0.15/Native Method)

                "worker "1" #9 prio=5 nid=0x7" #13 [15902] daemon prio=5 os_prio=0 cpu=1ms tid=0x01 nid=15902 runnable  [0x0]
                   java.lang.Thread.State: RUNNABLE
                \tat java.lang.Thread.yield0(java.base@21/Native Method)

                "two
                lines" #14 [15910] prio=5 os_prio=0 cpu=1ms tid=0x01 nid=15910 runnable  [0x0]
                   java.lang.Thread.State: RUNNABLE

                "ForkJoinPool-1-worker-1" #15 [15903] daemon prio=5 os_prio=0 cpu=691.04ms elapsed=1.57s tid=0x00  [0x0]
                   Carrying virtual thread #14
                \tat jdk.internal.vm.Continuation.run(java.base@25/Continuation.java:251)
                   Mounted virtual thread #14
                \tat java.lang.VirtualThread.tryYield(java.base@25/VirtualThread.java:959)

                "GC Thread#0" os_prio=0 cpu=0.72ms elapsed=1.50s tid=0x00007f7b900a0a80 nid=0x3de0 runnable
                """);
        assertThat(dump.all()).hasSize(5);
        assertThat(dump.of(0x3dd5))
                .matches(e -> e.name().equals("main") && e.javaId() == 1 && !e.isYielding())
                .matches(e -> e.topFrame().startsWith("at java.lang.Thread.sleep("));
        assertThat(dump.of(15902)).matches(e -> e.name().equals("worker \"1\" #9 prio=5 nid=0x7") && e.isYielding());
        assertThat(dump.of(15910).name()).isEqualTo("two\nlines");
        assertThat(dump.of(15903)).matches(e -> e.carriedId() == 14 && e.isYielding());
        assertThat(dump.of(0x3de0)).matches(e -> e.name().equals("GC Thread#0") && e.javaId() == 0);
        assertThat(dump.hasVirtualThreads()).isTrue();
    }
}
