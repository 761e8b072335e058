// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.ThreadContext;
import org.taskclock.internal.JdkVersions;

/** Tests what a profiler outside the process finds if the agent is loaded. */
class ThreadContextTest {
    private static final String NO_SPAN = "trace=00000000000000000000000000000000 span=0000000000000000 flags=00";

    private static void run(Class<?> program) throws IOException, InterruptedException {
        VirtualThreadsTest.agent("")
                .option(
                        "-Dtaskclock.thread.context=on",
                        "-Djdk.virtualThreadScheduler.parallelism=1",
                        "-Djdk.virtualThreadScheduler.maxPoolSize=1")
                .run(program)
                .assertSilent();
    }

    private static String read(String thread) throws IOException {
        String process = Long.toString(ProcessHandle.current().pid());
        Process reader = new ProcessBuilder("../clock/target/native-test/context_reader", process, thread).start();
        String[] lines = new String(reader.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\n", -1);
        return lines[lines.length - 2];
    }

    private static String ownTid() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/thread-self"))
                    .getFileName()
                    .toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldPublishContextsOfPlatformThreads() throws IOException, InterruptedException {
        run(Platform.class);
    }

    static final class Platform {
        public static void main(String[] args) throws Exception {
            assertThat(ThreadContext.state()).isEqualTo("on");
            CpuSection section = CpuAccounts.type("tenant").of("acme").enter();
            assertThat(read(ownTid())).isEqualTo(NO_SPAN + " taskclock.account.tenant=acme");
            section.close();
            assertThat(read(ownTid())).isEqualTo("invalid");
            assertThat(List.of(AgentCheck.bean().getFeatures()))
                    .filteredOn(feature -> feature.getName().equals("thread-context"))
                    .singleElement()
                    .satisfies(feature -> {
                        assertThat(feature.getState()).isEqualTo("on");
                        assertThat(feature.getProblem()).isNull();
                    });
        }
    }

    @Test
    void shouldMountContextsOfVirtualThreads() throws IOException, InterruptedException {
        assumeThat(JvmLauncher.feature()).isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        run(Virtual.class);
    }

    /** Two virtual threads that share a carrier. */
    static final class Virtual {
        private static final AccountType TENANT = CpuAccounts.type("tenant");
        private static final Semaphore FIRST = new Semaphore(0);
        private static final Semaphore SECOND = new Semaphore(0);

        /** The kernel thread to be read; null while there is none. */
        private static volatile String request;

        private static final List<String> SEEN = new ArrayList<>();

        /** Stays mounted while the main thread reads the context. */
        @SuppressWarnings("ThreadPriorityCheck")
        private static void see(String moment) {
            String tid = ownTid();
            SEEN.add(moment);
            request = tid;
            while (request != null) Thread.onSpinWait();
        }

        private static void first() {
            CpuSection section = TENANT.of("first").enter();
            see("first");
            SECOND.release();
            FIRST.acquireUninterruptibly();
            see("first again");
            CpuSection inner = CpuAccounts.type("query").of("q").enter();
            ThreadContext.setTrace(0, 1, 2, 1);
            SECOND.release();
            FIRST.acquireUninterruptibly();
            see("first with span");
            ThreadContext.setTrace(0, 0, 0, 0);
            inner.close();
            section.close();
            see("first at the end");
            SECOND.release();
        }

        private static void second() {
            SECOND.acquireUninterruptibly();
            see("second before");
            CpuSection section = TENANT.of("second").enter();
            see("second");
            FIRST.release();
            SECOND.acquireUninterruptibly();
            see("second again");
            section.close();
            see("second after");
            FIRST.release();
            SECOND.acquireUninterruptibly();
            assertThat(TENANT.of("third").enter()).isNotNull();
            see("with a used record");
        }

        public static void main(String[] args) throws Exception {
            List<Thread> threads = List.of(
                    VirtualThreadStarter.start("first", Virtual::first),
                    VirtualThreadStarter.start("second", Virtual::second));
            String carrier = null;
            while (threads.stream().anyMatch(Thread::isAlive)) {
                if (request == null) continue;
                carrier = request;
                SEEN.add(read(carrier));
                request = null;
            }
            String tenant = NO_SPAN + " taskclock.account.tenant=";
            assertThat(SEEN)
                    .containsExactly(
                            "first",
                            tenant + "first",
                            "second before",
                            "none",
                            "second",
                            tenant + "second",
                            "first again",
                            tenant + "first",
                            "second again",
                            tenant + "second",
                            "second after",
                            "none",
                            "first with span",
                            "trace=00000000000000000000000000000001 span=0000000000000002 flags=01"
                                    + " taskclock.account.tenant=first taskclock.account.query=q",
                            "first at the end",
                            "none",
                            "with a used record",
                            tenant + "third");
            assertThat(read(carrier))
                    .as("after a thread that left a section open")
                    .isEqualTo("none");
        }
    }
}
