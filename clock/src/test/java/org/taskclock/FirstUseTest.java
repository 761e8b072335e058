// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the clock initializes the same way no matter which class a program uses first. */
class FirstUseTest {
    @ParameterizedTest
    @ValueSource(
            strings = {"TaskClock", "ClockId", "KernelReaders", "ThreadClock", "ProcessClock", "ThreadSnapshot", "view"
            })
    void shouldInitialize(String firstClass) {
        List<String> options = List.of("-Dtaskclock.backend=syscall");
        ChildJvm child = ChildJvm.run(options, FirstUse.class, firstClass).succeeded();
        assertThat(child.out().trim()).isEqualTo("syscall");
    }

    /** Selecting a backend takes CPU time that a starting program needs more. */
    @Test
    void shouldSelectTheBackendSomeTimeAfterTheFirstReading() {
        assertThat(ChildJvm.run(Selection.class).succeeded().err()).isEmpty();
    }

    static final class Selection {
        private static final long DELAY_NANOS = 200_000_000;

        private Selection() {}

        public static void main(String[] args) throws InterruptedException {
            if (thread() != null) throw new AssertionError("before the first reading");
            long start = System.nanoTime();
            if (TaskClock.cpuNanos() < 0) throw new AssertionError("no reading");
            Thread thread = thread();
            if (thread == null) throw new AssertionError("no thread that selects the backend");
            thread.join();
            long nanos = System.nanoTime() - start;
            if (nanos < DELAY_NANOS) throw new AssertionError("selected after " + nanos + " ns");
        }

        private static Thread thread() {
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("taskclock-startup"))
                    .findFirst()
                    .orElse(null);
        }
    }

    /** Reads through one class, then prints the backend in use. */
    static final class FirstUse {
        private static final Map<String, LongSupplier> READS = Map.of(
                "TaskClock", TaskClock::userNanos,
                "ClockId", () -> ClockId.thread(0, ClockId.Kind.SCHED).nanos(),
                "KernelReaders", KernelReaders::tid,
                "ThreadClock", () -> ThreadClock.of(Thread.currentThread()).cpuNanos(),
                "ProcessClock", () -> ProcessClock.current().cpuNanos(),
                "ThreadSnapshot", () -> new ThreadSnapshot().read(new int[0], new long[0], new long[0], new long[0]),
                "view", () -> TaskClock.threadMXBean().getCurrentThreadCpuTime());

        private FirstUse() {}

        public static void main(String[] args) {
            long read = READS.get(args[0]).getAsLong();
            if (read < 0) throw new AssertionError(args[0] + " returned " + read);
            System.out.println(TaskClock.status().backend());
        }
    }
}
