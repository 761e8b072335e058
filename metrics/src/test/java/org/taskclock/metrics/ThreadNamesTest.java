// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

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
        "G1 Main Marker, GC",
        "ZWorkerYoung#12, GC",
        "Shenandoah GC T, GC",
        "Shenand..eads#0, GC",
        "StringDedupProc, GC",
        "C2 CompilerThread0, JIT",
        "C2 CompilerThre, JIT",
        "C2 Comp..hread0, JIT",
        "C2 Comp..read12, JIT",
        "Sweeper thread, JIT",
        "VM Thread, VM",
        "VM Periodic Tas, VM",
        "VM Peri..Thread, VM",
        "Signal ..atcher, VM",
        "Reference Handl, VM",
        "VM of a customer, JAVA",
        "G1, JAVA",
        "G1 loader, JAVA",
        "GC Thread, JAVA",
        "GC Thread#, JAVA",
        "GC Thread#1a, JAVA",
        "Zipkin-reporter#2, JAVA",
        "Zipkin-reporter, JAVA",
        "ZooKeeper worke, JAVA",
        "C1 Compactor, JAVA",
        "C2 Comp..ressor, JAVA",
        "Zebra, JAVA",
        "http-nio-8080-e, JAVA"
    })
    void shouldRecognizeThreadsOfTheJvmByTheirNames(String name, ThreadKind kind) {
        assertThat(ThreadNames.kind(name, ThreadNames.Owner.UNKNOWN)).isEqualTo(kind);
    }

    @ParameterizedTest
    @CsvSource({
        "GC Thread#3, JAVA, JAVA",
        "C2 CompilerThread0, JAVA, JAVA",
        "C2 CompilerThread0, FRAMELESS, JIT",
        "GC Thread#3, FRAMELESS, JAVA",
        "starting, FRAMELESS, JAVA",
        "Service Thread, FRAMELESS, VM",
        "Finalizer, JAVA, VM",
        "main, JAVA, JAVA",
        "GC Thread#3, JVM, GC",
        "G1 of a later version, JVM, GC",
        "C1 CompilerThread0, JVM, JIT",
        "of a later version, JVM, VM",
        "GC Thread#3, NOT_JAVA, GC",
        "JFR Sampler Thr, NOT_JAVA, VM",
        "G1 loader, NOT_JAVA, NATIVE",
        "grpc_worker, NOT_JAVA, NATIVE"
    })
    void shouldConsiderWhoseThreadItIs(String name, ThreadNames.Owner owner, ThreadKind kind) {
        assertThat(ThreadNames.kind(name, owner)).isEqualTo(kind);
    }

    @ParameterizedTest
    @CsvSource({
        "C2 CompilerThre, C# CompilerThread#",
        "VM Periodic Tas, VM Periodic Task Thread",
        "VM Peri..Thread, VM Periodic Task Thread",
        "GC Thread#3, GC Thread##",
        "GC Thread#12345, GC Thread##",
        "a busy thread w, a busy thread w"
    })
    void shouldCompleteTheNamesOfPoolsOfTheJvm(String name, String pool) {
        assertThat(ThreadNames.pool(name)).isEqualTo(pool);
    }

    @Test
    void shouldRecognizeCarriers() {
        for (String name : List.of("ForkJoinPool-1-worker-12", "ForkJoinPool-1-", "ForkJoi..rker-1"))
            assertThat(ThreadNames.isCarrier(name)).as(name).isTrue();
        for (String name :
                List.of("ForkJoinPool-1-delayScheduler", "ForkJoi..eduler", "ForkJoinPool-2-worker-1", "main"))
            assertThat(ThreadNames.isCarrier(name)).as(name).isFalse();
    }
}
