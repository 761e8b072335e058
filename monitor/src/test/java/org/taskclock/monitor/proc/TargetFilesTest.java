// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the access to the files of a process whose root is a directory of the test, as in a container. */
@Timeout(60)
class TargetFilesTest {
    private static final int MAX_BYTES = 100;
    private static final int HOSTILE_PROCESSES = 70;
    private static final long PID = ProcessHandle.current().pid();

    @TempDir
    Path folder;

    private Path root;
    private TargetFiles files;

    @BeforeEach
    void createRoot() throws IOException {
        root = Files.createDirectories(folder.resolve("root"));
        Files.createDirectories(root.resolve("tmp"));
        Files.createDirectories(root.resolve("data/tmp"));
        files = new TargetFiles(PID, root);
    }

    private String read(String path) throws IOException {
        return new String(files.read(path, MAX_BYTES), StandardCharsets.UTF_8);
    }

    @Test
    void shouldResolveLinksInTheRootOfTheProcess() throws IOException {
        Files.writeString(root.resolve("data/release"), "inside");
        Files.writeString(folder.resolve("secret"), "outside");
        Files.createSymbolicLink(root.resolve("absolute"), Path.of("/data/release"));
        Files.createSymbolicLink(root.resolve("data/relative"), Path.of("../absolute"));
        Files.createSymbolicLink(root.resolve("directory"), Path.of("/data"));
        for (String path :
                List.of("/data/release", "/absolute", "/data/relative", "/directory/release", "//data/./release"))
            assertThat(read(path)).as(path).isEqualTo("inside");
        Files.createSymbolicLink(root.resolve("host"), folder.resolve("secret"));
        Files.createSymbolicLink(root.resolve("up"), Path.of("../../../secret"));
        for (String path : List.of("/host", "/up", "/../secret", "/tmp/../../secret"))
            assertThatThrownBy(() -> read(path)).as(path).isInstanceOf(FileSystemException.class);
        Files.createSymbolicLink(root.resolve("loop"), Path.of("loop"));
        assertThatThrownBy(() -> read("/loop")).hasMessageContaining("has too many links");
    }

    /** A container's /tmp that is an absolute link is a directory of the container, not the host's. */
    @Test
    void shouldCreateFilesOnlyInTheRootOfTheProcess() throws IOException {
        Files.delete(root.resolve("tmp"));
        Path outside = Files.createDirectories(folder.resolve("outside"));
        Files.createSymbolicLink(root.resolve("tmp"), outside);
        assertThatThrownBy(() -> files.create("/tmp/agent.jar", (byte) 1)).isInstanceOf(FileSystemException.class);
        assertThat(outside).isEmptyDirectory();

        Files.delete(root.resolve("tmp"));
        Files.createSymbolicLink(root.resolve("tmp"), Path.of("/data/tmp"));
        files.create("/tmp/agent.jar", (byte) 1);
        assertThat(root.resolve("data/tmp/agent.jar")).hasBinaryContent(new byte[] {1});
        assertThat(files.locate("/tmp/agent.jar")).isEqualTo(root.resolve("data/tmp/agent.jar"));
        assertThat(files.list("/tmp")).containsExactly("agent.jar");
        files.deleteIfExists("/tmp/agent.jar");
        files.deleteIfExists("/tmp/agent.jar");
        assertThat(root.resolve("data/tmp")).isEmptyDirectory();
    }

    @Test
    void shouldNotFollowALinkInPlaceOfAFileToCreate() throws IOException {
        Files.createSymbolicLink(root.resolve("tmp/file"), folder.resolve("victim"));
        assertThatThrownBy(() -> files.create("/tmp/file")).isInstanceOf(FileAlreadyExistsException.class);
        assertThat(folder.resolve("victim")).doesNotExist();
        assertThat(files.attributes("/tmp/file").isSymbolicLink()).isTrue();
    }

    @Test
    void shouldOnlyReadRegularFilesOfLimitedSize() throws Exception {
        Path pipe = root.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        for (String path : List.of("/pipe", "/tmp"))
            assertThatThrownBy(() -> read(path)).hasMessageContaining("is not a regular file");
        Files.write(root.resolve("long"), new byte[MAX_BYTES + 1]);
        assertThatThrownBy(() -> read("/long")).hasMessageContaining("is too large");
    }

    @Test
    void shouldNotWaitForAProcessThatDoesNotAnswer() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        assertThatThrownBy(() -> TargetWorkers.call(PID, 100, () -> {
                    answer.await();
                    answered.countDown();
                    return null;
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("its files did not answer within 100 ms");
        assertThatThrownBy(() -> files.exists("/tmp")).hasMessage("its files did not answer an earlier request");
        assertThat(new TargetFiles(PID + 1, root).exists("/tmp")).isTrue();
        answer.countDown();
        answered.await();
        while (TargetWorkers.isBlocked(PID)) Thread.onSpinWait();
        assertThat(files.exists("/tmp")).isTrue();
    }

    /** Whoever replaces a file with a pipe between the check of its type and its opening blocks a thread. */
    @Test
    void shouldReadFilesOfOtherUsersAlthoughThreadsAreBlocked() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "needs root");
        List<Process> hostile = new ArrayList<>();
        ExecutorService readers = Executors.newFixedThreadPool(10);
        RacingPipe release = new RacingPipe(root.resolve("release"));
        try {
            for (int i = 0; i < HOSTILE_PROCESSES; i++)
                hostile.add(new ProcessBuilder("setpriv", "--reuid", "65534", "sleep", "600").start());
            List<Callable<Void>> readings = new ArrayList<>();
            for (Process process : hostile) {
                TargetFiles itsFiles = new TargetFiles(process.pid(), root);
                readings.add(() -> {
                    while (true) {
                        try {
                            itsFiles.read("/release", MAX_BYTES);
                        } catch (IOException e) {
                            if (e.getMessage().contains("did not answer")) return null;
                        }
                    }
                });
            }
            // Each ends when it is blocked, or when it is refused because others are.
            for (Future<Void> reading : readers.invokeAll(readings)) reading.get();
            long start = System.nanoTime();
            for (int i = 0; i < 100; i++) assertThat(files.exists("/tmp")).isTrue();
            assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(2));
            assertThat(TargetWorkers.blocked()).isPositive().isLessThan(HOSTILE_PROCESSES / 2);
        } finally {
            readers.shutdownNow();
            release.end();
            for (Process process : hostile) process.destroyForcibly();
        }
    }

    /** A file that is a pipe, and not, thousands of times a second. */
    private static final class RacingPipe {
        private final Path file;
        private final Path pipe;
        private final Path regular;
        private final Thread thread = new Thread(this::run);
        private volatile boolean stopped;

        RacingPipe(Path file) throws IOException, InterruptedException {
            this.file = file;
            pipe = file.resolveSibling("pipe");
            regular = file.resolveSibling("regular");
            assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                    .isZero();
            Files.writeString(regular, "JAVA_VERSION=\"25\"\n");
            thread.start();
        }

        private void run() {
            try {
                Path next = file.resolveSibling("next");
                for (int i = 0; !stopped; i++) {
                    Files.createLink(next, i % 2 == 0 ? pipe : regular);
                    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Lets the readers go on that wait for somebody who writes. */
        void end() throws IOException, InterruptedException {
            stopped = true;
            thread.join();
            // Those that have opened it read until its end.
            for (; TargetWorkers.blocked() > 0; Thread.sleep(10)) new RandomAccessFile(pipe.toFile(), "rw").close();
        }
    }

    /** Whatever opens a file of a process, or what shows its memory, must do so where it is checked and bounded. */
    @Test
    void shouldBeTheOnlyClassThatOpensFilesOfAProcess() throws IOException {
        // The first is that of the file system, the second in /proc. Our own process is trusted.
        Map<Pattern, String> allowed = Map.of(
                Pattern.compile("\"[^\"]*/(root|cwd|map_files|fd/)[^\"]*\""), "TargetFiles.java",
                Pattern.compile("\"/?(cmdline|environ|maps|smaps|numa_maps)\""), "TargetMemory.java");
        List<Path> sources = new ArrayList<>();
        // What is in dev is for ourselves.
        try (Stream<Path> top = Files.list(Path.of(".."));
                Stream<Path> nested = Files.list(Path.of("../metrics"));
                Stream<Path> modules = Stream.concat(top, nested)) {
            for (Path module : modules.map(found -> found.resolve("src/main")).toList()) {
                if (!Files.isDirectory(module)) continue;
                try (Stream<Path> files = Files.walk(module)) {
                    sources.addAll(files.filter(file -> file.toString().endsWith(".java"))
                            .toList());
                }
            }
        }
        assertThat(sources).hasSizeGreaterThan(500);
        List<String> found = new ArrayList<>();
        for (Path source : sources) {
            String text = Files.readString(source).replace("\"/proc/self/", "");
            allowed.forEach((pattern, file) -> {
                if (!source.endsWith(file) && pattern.matcher(text).find()) found.add(source + ": " + pattern);
            });
        }
        assertThat(found).isEmpty();
    }
}
