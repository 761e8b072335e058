// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.testing.TestJvm;

/** Replies that use up the memory of whoever reads them, with the heap of the exporter. */
@Tag("slow17")
class ReplyMemoryTest {
    private static final List<String> OPTIONS = List.of("-Xmx96m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError");
    private static final String FRAME = "\tat org.example.application.service.Worker.process(Worker.java:4711)\n";

    private static String read(String reply, int jvms) throws Exception {
        // As a JVM that cannot be asked to collect its replies.
        UnaryOperator<String> replies = request -> request.contains("getversion") ? "1" : reply;
        FakeJvm[] fakes = new FakeJvm[jvms];
        try {
            String[] pids = new String[jvms];
            for (int i = 0; i < jvms; i++) {
                fakes[i] = new FakeJvm(replies);
                pids[i] = Long.toString(fakes[i].pid());
            }
            return TestJvm.run(OPTIONS, ReplyMemoryProgram.class, pids);
        } finally {
            for (FakeJvm fake : fakes) if (fake != null) fake.close();
        }
    }

    private static String entry(String name, int tid, int frames) {
        return "\"" + name + "\" #" + tid + " prio=5 os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x1 nid=" + tid
                + " runnable  [0x1]\n   java.lang.Thread.State: RUNNABLE\n" + FRAME.repeat(frames) + "\n";
    }

    private static String dump(String name, int entries, int frames) {
        StringBuilder dump = new StringBuilder("Full thread dump\n\n");
        for (int tid = 1; tid <= entries; tid++) dump.append(entry(name, tid, frames));
        return dump.toString();
    }

    @Test
    void shouldReadDumpsWhoseCharactersTakeTwoBytes() throws Exception {
        // 16 MB, which is twice as much as text, and again where it is copied.
        assertThat(read(dump("\u65e5", 16_700, 12), 4)).doesNotContain("OutOfMemoryError");
    }

    @Test
    void shouldReadDumpsOfManySmallEntries() throws Exception {
        assertThat(read(dump("\u65e5", 100_000, 0), 2)).doesNotContain("OutOfMemoryError");
    }

    @Test
    void shouldReadTheDumpOfAJvmWithManyThreads() throws Exception {
        assertThat(read(dump("pool-1-thread-1", 10_000, 60), 1)).contains("stack of 62 lines");
    }

    @Test
    void shouldRefuseReportsThatTakeTooMuchMemory() throws Exception {
        String groups = "{},".repeat(1_500_000);
        assertThat(read("taskclock.report={\"virtualThreads\":[" + groups + "{}]}\n", 4))
                .contains("too long")
                .doesNotContain("OutOfMemoryError");
    }
}
