// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.LoadJvm;

class AttachClientTest {
    private static final long TIMEOUT_MILLIS = 20_000;

    @Test
    void shouldReportThatTheProcessHasExited() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            AttachClient client = AttachClient.of(load.pid());
            assertThat(client.execute(TIMEOUT_MILLIS, "properties")).contains("java.version=");
            load.end();
            assertExited(client);
            assertExited(AttachClient.of(load.pid()));
        }
    }

    /** On a second signal, after its attach listener has started, a JVM prints a thread dump to its output. */
    @Test
    void shouldNotDisturbTheProgramWhenSeveralToolsAttachAtTheSameTime() throws Exception {
        for (int round = 0; round < 10; round++) {
            try (LoadJvm load = LoadJvm.start("idle")) {
                List<Callable<String>> tools =
                        Collections.nCopies(3, () -> AttachClient.of(load.pid()).execute(TIMEOUT_MILLIS, "properties"));
                ExecutorService threads = Executors.newFixedThreadPool(tools.size());
                try {
                    for (Future<String> reply : threads.invokeAll(tools))
                        assertThat(reply.get()).contains("java.version=");
                } finally {
                    threads.shutdown();
                }
                assertThat(load.end()).as("output, round %d", round).isEmpty();
            }
        }
    }

    /** The JDK's tools create their file in the working directory of the process. */
    @Test
    @Timeout(60)
    void shouldWaitForAToolOfTheJdk() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            String name = ".attach_pid" + load.pid();
            Path request = Files.createFile(Path.of("/proc/" + load.pid() + "/cwd", name));
            try {
                FutureTask<String> reply =
                        new FutureTask<>(() -> AttachClient.of(load.pid()).execute(TIMEOUT_MILLIS, "properties"));
                new Thread(reply).start();
                while (!Files.exists(Path.of("/tmp", name)) && !reply.isDone()) Thread.sleep(1);
                load.signal("QUIT");
                assertThat(reply.get()).contains("java.version=");
            } finally {
                Files.deleteIfExists(request);
            }
            assertThat(Path.of("/tmp", name)).doesNotExist();
            assertThat(load.end()).isEmpty();
        }
    }

    /** Another tool may have ended before it removed the file. */
    @Test
    void shouldAttachInSpiteOfAnOldRequest() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            Path request = Path.of("/tmp/.attach_pid" + load.pid());
            Files.createFile(request);
            assertThat(AttachClient.of(load.pid()).execute(TIMEOUT_MILLIS, "properties"))
                    .contains("java.version=");
            assertThat(request).doesNotExist();
            assertThat(load.end()).isEmpty();
        }
    }

    /** While JDK 25 and later send a reply of another kind, a client that reads slowly keeps the program stopped. */
    @Test
    void shouldMakeTheJvmCollectThreadDumpsBeforeSendingThem() throws Exception {
        boolean sends = Runtime.version().feature() >= JdkVersions.STREAMED_REPLIES;
        try (LoadJvm load = LoadJvm.start(sends ? "-Xlog:attach=trace" : "-Xint", "idle")) {
            AttachClient client = AttachClient.of(load.pid());
            for (int i = 0; i < 2; i++) {
                assertThat(client.threadDump(TIMEOUT_MILLIS, tid -> true, true, "-e")
                                .all())
                        .filteredOn(entry -> entry.name().equals("pool-7-thread-1"))
                        .singleElement()
                        .satisfies(entry -> assertThat(entry.text()).contains(" allocated=", "java.lang.Thread.sleep"));
            }
            List<String> log = load.end();
            if (!sends) return;
            assertThat(log)
                    .filteredOn(line -> line.contains("executing command threaddump"))
                    .hasSize(2)
                    .allMatch(line -> line.contains("streaming output: 0"));
        }
    }

    @Test
    void shouldReportAnInterrupt() throws Exception {
        try (FakeJvm jvm = new FakeJvm(request -> null)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> jvm.client().execute(TIMEOUT_MILLIS, "properties"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("interrupted");
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldNotWaitForAReplyForLongerThanAllowed() throws Exception {
        try (FakeJvm jvm = new FakeJvm(request -> null)) {
            assertThatThrownBy(() -> jvm.client().execute(100, "properties"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("it did not answer within 100 ms");
        }
    }

    @Test
    void shouldNotWaitForTheEndOfAReplyForLongerThanAllowed() throws Exception {
        try (FakeJvm jvm = FakeJvm.endless()) {
            assertThatThrownBy(() -> jvm.client().execute(1_000, "properties"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("it did not answer within 1000 ms");
            jvm.awaitDisconnection();
        }
    }

    @Test
    void shouldNotConnectThroughALink() throws Exception {
        try (FakeJvm jvm = new FakeJvm(request -> "forged")) {
            Path socket = Path.of("/tmp/.java_pid" + jvm.pid());
            Path moved = Files.move(socket, Path.of("/tmp/taskclock-test-" + jvm.pid()));
            try {
                Files.createSymbolicLink(socket, moved);
                assertThatThrownBy(() -> jvm.client().execute(TIMEOUT_MILLIS, "properties"))
                        .isInstanceOf(IOException.class)
                        .hasMessage(socket + " is not a socket");
            } finally {
                Files.deleteIfExists(moved);
            }
        }
    }

    /** Every local user can create files in /tmp. */
    @Test
    void shouldNotConnectToASocketOfAnotherUser() throws Exception {
        try (FakeJvm jvm = new FakeJvm(request -> "forged")) {
            giveToAnotherUser(Path.of("/tmp/.java_pid" + jvm.pid()));
            assertThatThrownBy(() -> jvm.client().execute(TIMEOUT_MILLIS, "properties"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("belongs to another user");
            assertThat(jvm.takeRequests()).isZero();
        }
    }

    /** The file has the right owner, as that of a hard link would, but another user answers. */
    @Test
    void shouldNotTrustAnAnswerOfAnotherUser() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            Path socket = Path.of("/tmp/.java_pid" + load.pid());
            Process forger = new ProcessBuilder(
                            "setpriv",
                            "--reuid=65534",
                            "--clear-groups",
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:-UsePerfData",
                            "-cp",
                            System.getProperty("java.class.path"),
                            ForgedSocketProgram.class.getName(),
                            socket.toString())
                    .redirectErrorStream(true)
                    .start();
            try {
                String line = forger.inputReader().readLine();
                assumeTrue("ready".equals(line), "NOT RUN: only root can start a program of another user: " + line);
                Files.setAttribute(socket, "unix:uid", Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
                assertThatThrownBy(() -> AttachClient.of(load.pid()).execute(TIMEOUT_MILLIS, "properties"))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("answers in its place");
            } finally {
                forger.destroyForcibly();
                Files.deleteIfExists(socket);
            }
        }
    }

    /** The JVM ignores the request of another user, and prints a thread dump on the signal. */
    @Test
    void shouldNotSignalIfAnotherUserHasCreatedTheRequest() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            Path request = Files.createFile(Path.of("/tmp/.attach_pid" + load.pid()));
            try {
                giveToAnotherUser(request);
                assertThatThrownBy(() -> AttachClient.of(load.pid()).execute(TIMEOUT_MILLIS, "properties"))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("has created " + request)
                        .hasMessageContaining("delete that file");
                assertThat(load.end()).isEmpty();
            } finally {
                Files.deleteIfExists(request);
            }
        }
    }

    private static void giveToAnotherUser(Path file) throws IOException {
        try {
            Files.setAttribute(file, "unix:uid", 65_534);
        } catch (FileSystemException e) {
            assumeTrue(false, "NOT RUN: only root can give a file to another user");
        }
    }

    private static void assertExited(AttachClient client) {
        assertThatThrownBy(() -> client.execute(TIMEOUT_MILLIS, "properties"))
                .isInstanceOf(IOException.class)
                .hasMessage("it has exited");
    }
}
