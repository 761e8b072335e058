// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.ThreadNames;

class ThreadDumpTest {
    private static final String STATE = "   java.lang.Thread.State: RUNNABLE\n";

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
    }

    @Test
    void shouldReturnTheDumpWithMoreFields() {
        String first =
                "\"a\nb tid=0x7\" #1 prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00 nid=0x1f runnable  [0x1]\n"
                        + STATE + "\tat a.B.run(B.java:7)\n";
        String second = "\"VM Thread\" os_prio=0 cpu=9.99ms elapsed=1.00s tid=0x00007f nid=0x2a runnable\n";
        String end = "\nJNI global refs: 7, weak refs: 0\n";
        String text = "2026-11-22 10:00:00\nFull thread dump\n\n" + first + "\n" + second + end;
        assertThat(ThreadDump.parse(text).text(entry -> "")).isEqualTo(text);
        assertThat(ThreadDump.parse(text).text(entry -> "used=" + entry.tid() + " "))
                .isEqualTo(text.replace("s tid=", "s used=31 tid=")
                        .replace("used=31 tid=0x00007f", "used=42 tid=0x00007f"));
    }

    @Test
    void shouldParseTheHeadersOfAllVersions() {
        ThreadDump dump = ThreadDump.parse("2026-11-22 10:00:00\nFull thread dump\n\n"
                + "\"main\" #1 prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00007f nid=0x1f runnable  [0x1]\n"
                + STATE
                + "\tat a.B.run(B.java:7)\n\n"
                + "\"worker\" #12 [4711] daemon prio=5 os_prio=0 cpu=1.00ms tid=0x00007f nid=4711 runnable  [0x1]\n"
                + STATE + "\n"
                + "\"VM Thread\" os_prio=0 cpu=9.99ms elapsed=1.00s tid=0x00007f nid=33 runnable  \n\n");
        assertThat(dump.all()).hasSize(3);
        assertThat(dump.of(31)).matches(main -> main.name().equals("main") && main.javaId() == 1);
        assertThat(dump.of(31).topFrame()).isEqualTo("at a.B.run(B.java:7)");
        assertThat(dump.of(4711)).matches(worker -> worker.javaId() == 12 && worker.carriedId() == 0);
        assertThat(dump.of(4711).topFrame()).isEmpty();
        assertThat(dump.of(33)).matches(vm -> vm.javaId() == 0 && vm.name().equals("VM Thread"));
    }

    @Test
    void shouldNotBeMisledByNames() {
        String name = "a nid=99 os_prio=1 x\nallocated=7";
        ThreadDump dump = ThreadDump.parse("\"" + name
                + "\" #5 prio=5 os_prio=0 cpu=1.00ms allocated=40B tid=0x00007f nid=0x10 runnable  [0x1]\n" + STATE
                + "\tat a.B.run(B.java:7)\n\n");
        assertThat(dump.all()).hasSize(1);
        ThreadDump.Entry entry = dump.of(16);
        assertThat(entry.name()).isEqualTo(name);
        assertThat(entry.header()).endsWith("nid=0x10 runnable  [0x1]").contains(" allocated=40B ");
    }

    /** A name can contain lines that look like other entries. */
    @Test
    void shouldIgnoreNumbersThatAreTooLarge() {
        String huge = "9".repeat(30);
        ThreadDump dump = ThreadDump.parse("\"a\n\"b\" #" + huge + " [7] os_prio=0 nid=8\n"
                + "\"c\" #1 [" + huge + "] os_prio=0\n"
                + "\"d\" #1 os_prio=0 nid=" + huge + "\n"
                + "\"e\" #1 os_prio=0 nid=0x" + huge + "\n"
                + "\"f\" #1 os_prio=0 nid=0x11 runnable\n   Carrying virtual thread #" + huge + "\n");
        assertThat(dump.all()).extracting(ThreadDump.Entry::name).contains("f").doesNotContain("c", "d", "e");
        assertThat(dump.of(0x11).carriedId()).isZero();
    }

    @Test
    void shouldRecognizeYieldsAndScheduling() {
        ThreadDump.Entry platform = entry("\tat java.lang.Thread.yield(java.base@17/Native Method)\n");
        assertThat(platform.isYielding()).isTrue();
        assertThat(platform.isScheduling()).isFalse();
        String run = "\tat java.lang.VirtualThread.runContinuation(java.base@25/VirtualThread.java:1)\n";
        assertThat(entry(run)).matches(entry -> entry.isScheduling() && !entry.isYielding());
        ThreadDump.Entry carrier = entry("   Carrying virtual thread #22\n" + run + "   Mounted virtual thread #22\n"
                + "\tat java.lang.VirtualThread.tryYield(java.base@25/VirtualThread.java:1)\n");
        assertThat(carrier.carriedId()).isEqualTo(22);
        assertThat(carrier).matches(entry -> entry.isYielding() && !entry.isScheduling());
    }

    private static ThreadDump.Entry entry(String lines) {
        String header = "\"worker\" #12 [4711] daemon prio=5 os_prio=0 cpu=1.00ms tid=0x00007f nid=4711  [0x1]\n";
        return ThreadDump.parse(header + lines).of(4711);
    }

    @Test
    void shouldReadTheStacksOfAThreadDump() {
        String text = """
                "main" #1 [12] prio=5 os_prio=0 cpu=12.34ms elapsed=1.00s tid=0x1 nid=12 runnable  [0x1]
                   java.lang.Thread.State: RUNNABLE
                \tat java.lang.Object.wait0(java.base@25/Native Method)
                \t- locked <0x1> (a java.lang.Object)
                \tat a.B$1.hot(B.java:7)
                \tat a.B$$Lambda$14/0x0000000800c03000.run(Unknown Source)
                \tat a.B$$Lambda/0x0000000800c03000.run(Unknown Source)
                \tat java.lang.Thread.run(java.base@25/Thread.java:840)
                """;
        assertThat(ThreadDump.parse(text).of(12).frames(true))
                .containsExactly(
                        "java.lang.Thread.run:840",
                        "a.B$$Lambda.run",
                        "a.B$$Lambda.run",
                        "a.B$1.hot:7",
                        "java.lang.Object.wait0");
        assertThat(ThreadDump.parse(text).of(12).frames(false))
                .containsExactly(
                        "java.lang.Thread.run",
                        "a.B$$Lambda.run",
                        "a.B$$Lambda.run",
                        "a.B$1.hot",
                        "java.lang.Object.wait0");
    }

    @Test
    void shouldAppendTheStackOfAVirtualThreadToThatOfItsCarrier() {
        String text = """
                "ForkJoinPool-1-worker-1" #23 [7790] daemon prio=5 os_prio=0 cpu=2730.36ms elapsed=8.41s tid=0x1  [0x1]
                   Carrying virtual thread #22
                \tat jdk.internal.vm.Continuation.run(java.base@25.0.3/Continuation.java:254)
                \tat java.util.concurrent.ForkJoinWorkerThread.run(java.base@25.0.3/ForkJoinWorkerThread.java:187)
                   Mounted virtual thread #22
                \tat a.B.hot(B.java:2)
                \tat java.lang.VirtualThread.run(java.base@25.0.3/VirtualThread.java:460)
                """;
        assertThat(ThreadDump.parse(text).of(7790).frames(false))
                .containsExactly(
                        "java.util.concurrent.ForkJoinWorkerThread.run",
                        "jdk.internal.vm.Continuation.run",
                        "java.lang.VirtualThread.run",
                        "a.B.hot");
    }

    /** As JDK 17 and 25 print them; a program can give its threads the names of compilers. */
    @Test
    void shouldTellCompilersFromThreadsOfTheProgram() {
        ThreadDump dump = ThreadDump.parse("""
                "C2 CompilerThread0" #7 prio=9 os_prio=0 tid=0x1 nid=0x11 runnable  [0x0000000000000000]
                   java.lang.Thread.State: RUNNABLE
                   No compile task

                "C2 CompilerThread7" #12 prio=5 os_prio=0 tid=0x2 nid=0x12 runnable  [0x00007f684cb6b000]
                   java.lang.Thread.State: RUNNABLE
                \tat S.lambda$main$0(S.java:1)

                "JVMCI CompilerThread1" #13 prio=9 os_prio=0 tid=0x3 nid=0x13 runnable  [0x00007f684cb6b000]
                   java.lang.Thread.State: RUNNABLE
                   Compiling: 123       4       java.lang.String::hashCode (60 bytes)
                \tat jdk.vm.ci.hotspot.HotSpotJVMCIRuntime.compileMethod(HotSpotJVMCIRuntime.java:1)

                "Sweeper thread" #9 prio=9 os_prio=0 tid=0x4 nid=0x14 runnable  [0x0000000000000000]
                   java.lang.Thread.State: RUNNABLE

                "   No compile task  [0x0000000000000000]" #14 os_prio=0 tid=0x5 nid=0x15 runnable  [0x00007f684cb6b000]
                   java.lang.Thread.State: RUNNABLE
                \tat S.main(S.java:1)
                """);
        assertThat(List.of(0x11, 0x12, 0x13, 0x14, 0x15))
                .map(tid -> dump.of(tid))
                .extracting(entry -> ThreadNames.kind(entry.name(), entry.owner()))
                .containsExactly(ThreadKind.JIT, ThreadKind.JAVA, ThreadKind.JIT, ThreadKind.JIT, ThreadKind.JAVA);
    }
}
