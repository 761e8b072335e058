// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import me.bechberger.jthreaddump.model.ThreadDump;
import me.bechberger.jthreaddump.model.ThreadInfo;
import me.bechberger.jthreaddump.parser.ThreadDumpParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code taskclock dump}, read by a parser of the JVM's thread dumps. */
class DumpTest {
    @TempDir
    private Path folder;

    private static String dump(HotJvm target, String... options) throws Exception {
        String[] arguments = new String[options.length + 2];
        arguments[0] = "dump";
        arguments[1] = target.pid;
        System.arraycopy(options, 0, arguments, 2, options.length);
        CliResult result = CliResult.run(arguments);
        assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.OK);
        assertThat(result.err()).isEmpty();
        return result.out();
    }

    /** Returns a field of a thread's header, in its unit. */
    private static double field(String dump, String thread, String name) {
        Matcher header = Pattern.compile(
                        "^\"" + Pattern.quote(thread) + "\" .* " + name + "=([0-9.]+)[a-zA-Z]+ .*tid=0x",
                        Pattern.MULTILINE)
                .matcher(dump);
        assertThat(header.find()).as("%s of %s in %s", name, thread, dump).isTrue();
        return Double.parseDouble(header.group(1));
    }

    private static ThreadInfo thread(ThreadDump dump, String name) {
        return dump.threads().stream()
                .filter(thread -> thread.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldAddWhatEachThreadUsed() throws Exception {
        try (HotJvm target = new HotJvm()) {
            String text = dump(target, "--for", "1s");
            double used = field(text, "worker-1", "used");
            double intervalMillis = field(text, "worker-1", "interval") * 1_000;
            assertThat(used).isBetween(10.0, intervalMillis);
            assertThat(field(text, "worker-1", "user") + field(text, "worker-1", "system"))
                    .isBetween(used - 0.02, used + 0.02);
            assertThat(field(text, "worker-1", "waited")).isBetween(0.0, intervalMillis);
            assertThat(field(text, "worker-1", "allocated_in")).isNotNegative();
            assertThat(field(text, "main", "used")).isLessThan(used / 2);
        }
    }

    @Test
    void shouldBeReadAsTheJvmsOwnDump() throws Exception {
        try (HotJvm target = new HotJvm()) {
            ThreadDump ours = ThreadDumpParser.parse(dump(target, "--for", "100ms"));
            ThreadDump theirs = ThreadDumpParser.parse(target.execute("threaddump", "-e"));
            assertThat(ours.threads()).hasSameSizeAs(theirs.threads());
            assertThat(ours.jvmInfo()).isEqualTo(theirs.jvmInfo());
            for (String name : new String[] {"main", "worker-1", "other-1", "VM Thread"}) {
                ThreadInfo thread = thread(ours, name);
                ThreadInfo expected = thread(theirs, name);
                assertThat(thread.nativeId()).isEqualTo(expected.nativeId());
                assertThat(thread.threadId()).isEqualTo(expected.threadId());
                assertThat(thread.priority()).isEqualTo(expected.priority());
                assertThat(thread.daemon()).isEqualTo(expected.daemon());
                assertThat(thread.cpuTimeSec()).isBetween(0.0, expected.cpuTimeSec());
                assertThat(thread.elapsedTimeSec()).isBetween(0.0, expected.elapsedTimeSec());
            }
            assertThat(thread(ours, "main").stackTrace())
                    .isEqualTo(thread(theirs, "main").stackTrace());
        }
    }

    @Test
    void shouldWriteToAFile() throws Exception {
        Path file = folder.resolve("dump.txt");
        try (HotJvm target = new HotJvm()) {
            assertThat(dump(target, "--for", "100ms", "-o", file.toString())).isEmpty();
        }
        assertThat(Files.readString(file)).contains("Full thread dump", "\"worker-1\" ", " used=");
    }

    @Test
    void shouldSayWhyThereIsNoDump() throws Exception {
        CliResult result = CliResult.run("dump", "999999999");
        assertThat(result).isEqualTo(new CliResult(Main.NO_PROCESS, "", "taskclock: there is no process 999999999\n"));
        try (HotJvm target = new HotJvm("-XX:+DisableAttachMechanism")) {
            result = CliResult.run("dump", target.pid);
            assertThat(result.exitCode()).isEqualTo(Main.FAILED);
            assertThat(result.out()).isEmpty();
            assertThat(result.err())
                    .isEqualTo("taskclock: process " + target.pid
                            + " gives no thread dump: -XX:+DisableAttachMechanism forbids it\n");
        }
    }
}
