// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests where the native library is loaded from and what is reported if it cannot be loaded. */
class LibraryTest {
    private static final String FILE_NAME = ExpectedBackend.libraryName();

    @TempDir
    Path directory;

    @TempDir
    Path elsewhere;

    @BeforeAll
    static void assumeNativeLibrary() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
    }

    @Test
    void shouldLeaveNoFilesBehind() {
        ChildJvm child =
                ChildJvm.run(List.of(temporary(directory)), StatusPrinter.class).succeeded();
        assertThat(child.out()).contains("backend=" + ExpectedBackend.name(), "temporary=[]");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldLeaveNoFilesBehindIfTheJvmIsHalted() {
        ChildJvm child = ChildJvm.run(List.of(temporary(directory)), StatusPrinter.class, "halt")
                .succeeded();
        assertThat(child.out()).contains("backend=" + ExpectedBackend.name());
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldExtractToAPrivateDirectory() {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "umask 0; exec \"$@\"", "sh"));
        command.addAll(ChildJvm.command(List.of(temporary(directory)), ExtractionInspector.class));
        assertThat(ChildJvm.run(command).succeeded().out()).containsOnlyOnce("rwx------ files=1\n");
    }

    /** Another user can add a file between the creation of the directory and the change of its permissions. */
    @Test
    void shouldNotUseADirectoryThatContainsFiles() throws IOException {
        File empty = Files.createDirectory(directory.resolve("empty")).toFile();
        ExtractedLibrary.makePrivate(empty);
        File planted = Files.createDirectory(directory.resolve("planted")).toFile();
        Files.writeString(planted.toPath().resolve("libtaskclock.so"), "");
        assertThatThrownBy(() -> ExtractedLibrary.makePrivate(planted))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(planted.getPath());
    }

    @Test
    void shouldFallBackIfTheTemporaryDirectoryDoesNotExist() {
        assertFallsBack(List.of(), directory + "/none", "cannot extract", "none", "-Djava.io.tmpdir");
    }

    @Test
    void shouldFallBackIfTheTemporaryDirectoryIsAFile() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "");
        assertFallsBack(List.of(), file.toString(), "cannot extract", file.toString(), "-Djava.io.tmpdir");
    }

    /** A JVM that was started with LC_ALL=C cannot create a Path for a name that is not ASCII. */
    @Test
    void shouldFallBackIfTheNameOfTheTemporaryDirectoryIsUnmappable() {
        assertFallsBack(List.of("env", "LC_ALL=C"), directory + nonAsciiName(), "cannot extract", "-Djava.io.tmpdir");
    }

    @Test
    void shouldFallBackIfTheGivenPathIsUnmappable() {
        List<String> options = List.of("-D" + Library.PATH_PROPERTY + "=" + directory + nonAsciiName());
        ChildJvm child = printStatus(List.of("env", "LC_ALL=C"), options).succeeded();
        assertThat(child.out()).contains("backend=mxbean", "syscall-", "-D" + Library.PATH_PROPERTY);
    }

    private static String nonAsciiName() {
        String name = "/\u00fc";
        boolean canEncode = Charset.forName(System.getProperty("sun.jnu.encoding"))
                .newEncoder()
                .canEncode(name);
        assumeTrue(canEncode, "this JVM was itself started in an ASCII locale");
        return name;
    }

    @Test
    void shouldFallBackIfTheTemporaryDirectoryIsReadOnly() {
        assertFallsBack(
                mounted("ro"), directory.toString(), "cannot extract", "Read-only file system", "-Djava.io.tmpdir");
    }

    @Test
    void shouldFallBackIfTheTemporaryDirectoryIsFull() {
        ChildJvm child = assertFallsBack(
                mounted("size=4k"), directory.toString(), "cannot extract", "No space left", "-Djava.io.tmpdir");
        assertThat(child.out()).contains("temporary=[]");
    }

    @Test
    void shouldFallBackIfTheTemporaryDirectoryIsNoexec() throws IOException {
        ChildJvm child =
                assertFallsBack(mounted("noexec"), directory.toString(), "cannot load", "noexec", "-Djava.io.tmpdir");
        assertThat(child.out()).contains("temporary=[]");

        // The proposed remedy must work.
        Path copy = extractLibrary(elsewhere.resolve(FILE_NAME));
        ChildJvm remedied = printStatus(mounted("noexec"), List.of(temporary(directory), libraryPath(copy)));
        assertThat(remedied.succeeded().out()).contains("backend=" + ExpectedBackend.name());
    }

    @ParameterizedTest
    @CsvSource({"10000000, 10000000", "4000000, 4000000", "999848, 999848", "1, -1", "0, -1", "-1, -1"})
    void shouldNotTakeEveryResolutionForATick(long resolution, long tick) {
        assertThat(Library.tick(resolution)).isEqualTo(tick);
    }

    @Test
    void shouldLoadAGivenFile() throws IOException {
        assertLoads(extractLibrary(directory.resolve("any-name.so")));
    }

    @Test
    void shouldLoadFromAGivenDirectory() throws IOException {
        extractLibrary(directory.resolve(FILE_NAME));
        assertLoads(directory);
    }

    private void assertLoads(Path path) {
        // Extraction is impossible, so the loaded library must be the given one.
        List<String> options = List.of(libraryPath(path), temporary(directory.resolve("none")));
        assertThat(printStatus(List.of(), options).succeeded().out())
                .contains("backend=" + ExpectedBackend.name(), "syscall+");
    }

    @ParameterizedTest
    @ValueSource(strings = {"missing", "text", "truncated", "empty directory"})
    void shouldReportAGivenPathThatIsNotALibrary(String kind) throws IOException {
        Path path = directory.resolve(kind);
        switch (kind) {
            case "text" -> Files.writeString(path, "This is not a library.\n");
            case "truncated" -> Files.write(path, new byte[] {0x7f, 'E', 'L', 'F'});
            case "empty directory" -> Files.createDirectory(path);
            default -> {}
        }
        assertRejects(path);
    }

    @Test
    void shouldReportAGivenForeignLibrary() {
        assertRejects(Path.of(System.getProperty("test.native"), "libtestsyscalls.so"));
    }

    private static void assertRejects(Path path) {
        ChildJvm child = printStatus(List.of(), List.of(libraryPath(path))).succeeded();
        assertThat(child.out()).contains("backend=mxbean", "syscall-", path.toString(), "-D" + Library.PATH_PROPERTY);
        ChildJvm forced = printStatus(List.of(), List.of(libraryPath(path), "-Dtaskclock.backend=syscall"));
        assertThat(forced.exit()).isNotZero();
        assertThat(forced.err()).contains("-Dtaskclock.backend=syscall", path.toString());
    }

    /**
     * Asserts that a child uses mxbean and gives the reasons, and that it fails with the reasons if forced to syscall.
     */
    private static ChildJvm assertFallsBack(List<String> launcher, String temporary, String... reasons) {
        ChildJvm child = printStatus(launcher, List.of(temporary(temporary))).succeeded();
        assertThat(child.out()).contains("backend=mxbean", "mxbean+", "cpu=known", "binding=none");
        assertThat(child.out().lines().filter(line -> line.startsWith("syscall-")))
                .singleElement()
                .asString()
                .contains(reasons)
                .contains("-D" + Library.PATH_PROPERTY);
        ChildJvm forced = printStatus(launcher, List.of(temporary(temporary), "-Dtaskclock.backend=syscall"));
        assertThat(forced.exit()).isNotZero();
        assertThat(forced.out()).doesNotContain("backend=");
        assertThat(forced.err()).contains("-Dtaskclock.backend=syscall").contains(reasons);
        return child;
    }

    private static ChildJvm printStatus(List<String> launcher, List<String> options) {
        List<String> command = new ArrayList<>(launcher);
        command.addAll(ChildJvm.command(options, StatusPrinter.class));
        return ChildJvm.run(command);
    }

    private List<String> mounted(String option) {
        return TmpfsLauncher.command(directory, option);
    }

    private static Path extractLibrary(Path to) throws IOException {
        try (InputStream in = Library.class.getResourceAsStream(FILE_NAME)) {
            Files.copy(in, to);
        }
        return to;
    }

    private static String temporary(Object path) {
        return "-Djava.io.tmpdir=" + path;
    }

    private static String libraryPath(Path path) {
        return "-D" + Library.PATH_PROPERTY + "=" + path;
    }
}
