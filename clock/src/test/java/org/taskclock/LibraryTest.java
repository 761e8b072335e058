// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the native library comes from, and what is said where it cannot be had. */
class LibraryTest {
    private static final String FILE = "libtaskclock-linux-x86_64.so";

    @TempDir
    Path directory;

    @TempDir
    Path elsewhere;

    @BeforeAll
    static void isWhereALibraryExists() {
        assumeTrue(Expected.isNative(), "no native library for this system");
    }

    @Test
    void shouldLeaveNothingBehind() {
        ChildJvm child =
                ChildJvm.run(List.of(temporary(directory)), SayStatus.class).succeeded();
        assertThat(child.out()).contains("rung=" + Expected.rung(), "temporary=[]");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldLeaveNothingBehindWhenTheJvmIsHalted() {
        ChildJvm child = ChildJvm.run(List.of(temporary(directory)), SayStatus.class, "halt")
                .succeeded();
        assertThat(child.out()).contains("rung=" + Expected.rung());
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldExtractWhereNobodyElseCanWrite() {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "umask 0; exec \"$@\"", "sh"));
        command.addAll(ChildJvm.command(List.of(temporary(directory)), LibraryWatch.class));
        assertThat(ChildJvm.run(command).succeeded().out()).containsOnlyOnce("rwx------ holding 1\n");
    }

    @Test
    void shouldNameATemporaryDirectoryThatDoesNotExist() {
        shouldFallBack(List.of(), directory + "/none", "cannot extract", "none", "-Djava.io.tmpdir");
    }

    @Test
    void shouldNameATemporaryDirectoryThatIsAFile() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "");
        shouldFallBack(List.of(), file.toString(), "cannot extract", file.toString(), "-Djava.io.tmpdir");
    }

    /** A JVM that was started with LC_ALL=C has no Path for a name that is not ASCII. */
    @Test
    void shouldFallBackWhereTheTemporaryDirectoryCannotBeNamed() {
        shouldFallBack(List.of("env", "LC_ALL=C"), directory + beyondAscii(), "cannot extract", "-Djava.io.tmpdir");
    }

    @Test
    void shouldFallBackWhereTheGivenPathCannotBeNamed() {
        List<String> options = List.of("-D" + Library.PATH_PROPERTY + "=" + directory + beyondAscii());
        ChildJvm child = say(List.of("env", "LC_ALL=C"), options).succeeded();
        assertThat(child.out()).contains("rung=mxbean", "syscall-", "-D" + Library.PATH_PROPERTY);
    }

    private static String beyondAscii() {
        String name = "/\u00fc";
        boolean canPass = Charset.forName(System.getProperty("sun.jnu.encoding"))
                .newEncoder()
                .canEncode(name);
        assumeTrue(canPass, "this JVM was itself started in a locale that has ASCII only");
        return name;
    }

    @Test
    void shouldFallBackWhereTheTemporaryDirectoryIsReadOnly() {
        shouldFallBack(
                mounted("ro"), directory.toString(), "cannot extract", "Read-only file system", "-Djava.io.tmpdir");
    }

    @Test
    void shouldFallBackWhereTheTemporaryDirectoryIsFull() {
        ChildJvm child = shouldFallBack(
                mounted("size=4k"), directory.toString(), "cannot extract", "No space left", "-Djava.io.tmpdir");
        assertThat(child.out()).contains("temporary=[]");
    }

    @Test
    void shouldFallBackWhereNothingMayBeExecuted() throws IOException {
        ChildJvm child =
                shouldFallBack(mounted("noexec"), directory.toString(), "cannot load", "noexec", "-Djava.io.tmpdir");
        assertThat(child.out()).contains("temporary=[]");

        // The remedy that was named helps.
        Path copy = extracted(elsewhere.resolve(FILE));
        ChildJvm helped = say(mounted("noexec"), List.of(temporary(directory), given(copy)));
        assertThat(helped.succeeded().out()).contains("rung=" + Expected.rung());
    }

    @Test
    void shouldTakeAGivenFile() throws IOException {
        shouldTake(extracted(directory.resolve("any-name.so")));
    }

    @Test
    void shouldTakeAGivenDirectory() throws IOException {
        extracted(directory.resolve(FILE));
        shouldTake(directory);
    }

    private void shouldTake(Path given) {
        // Nothing can be extracted, so what is loaded is what was given.
        List<String> options = List.of(given(given), temporary(directory.resolve("none")));
        assertThat(say(List.of(), options).succeeded().out()).contains("rung=" + Expected.rung(), "syscall+");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing", "text", "cut", "empty directory"})
    void shouldNameAGivenPathThatIsNoLibrary(String kind) throws IOException {
        Path path = directory.resolve(kind);
        switch (kind) {
            case "text" -> Files.writeString(path, "This is no library.\n");
            case "cut" -> Files.write(path, new byte[] {0x7f, 'E', 'L', 'F'});
            case "empty directory" -> Files.createDirectory(path);
            default -> {}
        }
        shouldRefuse(path);
    }

    @Test
    void shouldNameAGivenLibraryOfSomebodyElse() {
        shouldRefuse(Path.of(System.getProperty("test.native"), "libtestos.so"));
    }

    private void shouldRefuse(Path given) {
        ChildJvm child = say(List.of(), List.of(given(given))).succeeded();
        assertThat(child.out()).contains("rung=mxbean", "syscall-", given.toString(), "-D" + Library.PATH_PROPERTY);
        ChildJvm forced = say(List.of(), List.of(given(given), "-Dtaskclock.rung=syscall"));
        assertThat(forced.exit()).isNotZero();
        assertThat(forced.err()).contains("-Dtaskclock.rung=syscall", given.toString());
    }

    /** A child by some launcher runs on the last rung and says why; forced to the first, it says the same and fails. */
    private ChildJvm shouldFallBack(List<String> launcher, String temporary, String... reasons) {
        ChildJvm child = say(launcher, List.of(temporary(temporary))).succeeded();
        assertThat(child.out()).contains("rung=mxbean", "mxbean+", "cpu=known", "binding=none");
        assertThat(child.out().lines().filter(line -> line.startsWith("syscall-")))
                .singleElement()
                .asString()
                .contains(reasons)
                .contains("-D" + Library.PATH_PROPERTY);
        ChildJvm forced = say(launcher, List.of(temporary(temporary), "-Dtaskclock.rung=syscall"));
        assertThat(forced.exit()).isNotZero();
        assertThat(forced.out()).doesNotContain("rung=");
        assertThat(forced.err()).contains("-Dtaskclock.rung=syscall").contains(reasons);
        return child;
    }

    private static ChildJvm say(List<String> launcher, List<String> options) {
        List<String> command = new ArrayList<>(launcher);
        command.addAll(ChildJvm.command(options, SayStatus.class));
        return ChildJvm.run(command);
    }

    /** A launcher that sees a small file system of its own in place of {@link #directory}. */
    private List<String> mounted(String option) {
        String script = "mount -t tmpfs -o \"$1\" none \"$2\" || exit 99; shift 2; exec \"$@\"";
        for (List<String> namespace : List.of(List.of("unshare", "--mount"), List.of("unshare", "-Urm"))) {
            List<String> launcher = new ArrayList<>(namespace);
            launcher.addAll(List.of("sh", "-c", script, "sh", option, directory.toString()));
            List<String> probe = new ArrayList<>(launcher);
            probe.add("true");
            if (canRun(probe)) return launcher;
        }
        assumeTrue(false, "no private mount of tmpfs is allowed here (unshare --mount, unshare -Urm)");
        throw new AssertionError();
    }

    private static boolean canRun(List<String> command) {
        try {
            return ChildJvm.run(command).exit() == 0;
        } catch (UncheckedIOException e) {
            return false; // no such command
        }
    }

    private static Path extracted(Path to) throws IOException {
        try (InputStream in = Library.class.getResourceAsStream(FILE)) {
            Files.copy(in, to);
        }
        return to;
    }

    private static String temporary(Object path) {
        return "-Djava.io.tmpdir=" + path;
    }

    private static String given(Path path) {
        return "-D" + Library.PATH_PROPERTY + "=" + path;
    }
}
