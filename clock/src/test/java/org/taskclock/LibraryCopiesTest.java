// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.internal.JdkVersions;

/** Tests several copies of the library in one process: in different class loaders and packages, loaded and unloaded. */
class LibraryCopiesTest {
    private static final String SHADED_PACKAGE = "com.acme.shaded.clock";

    /** Enough for 70 ticks or more. After each tick, copies that do not share their state would disagree. */
    private static final long INTERLEAVED_NANOS = 700_000_000;

    // Numbers of shared.h.
    private static final int BACKEND_OFF = -1;
    private static final int BACKEND_ON = -2;

    @TempDir
    Path directory;

    enum Packaging {
        ORIGINAL,
        SHADED_WITH_MODULE_INFO,
        SHADED_WITHOUT_MODULE_INFO
    }

    private final Path jar = Path.of(System.getProperty("test.jar"));

    private LibraryCopy load(Packaging packaging) throws Exception {
        if (packaging == Packaging.ORIGINAL) return new LibraryCopy(jar, LibraryCopy.PACKAGE);
        boolean keepModuleInfo = packaging == Packaging.SHADED_WITH_MODULE_INFO;
        Path shaded = JarRelocator.relocate(jar, directory.resolve("shaded.jar"), SHADED_PACKAGE, keepModuleInfo);
        return new LibraryCopy(shaded, SHADED_PACKAGE);
    }

    @ParameterizedTest
    @EnumSource
    void shouldShareOneState(Packaging packaging) throws Exception {
        assumeNativeLibrary();
        try (LibraryCopy first = new LibraryCopy(jar, LibraryCopy.PACKAGE);
                LibraryCopy second = load(packaging)) {
            for (LibraryCopy copy : List.of(first, second)) {
                assertThat(copy.status("backend")).isEqualTo(ExpectedBackend.name());
                assertThat(copy.status("binding"))
                        .isEqualTo(Runtime.version().feature() >= JdkVersions.FOREIGN_FUNCTIONS ? "FFM" : "JNI");
                assertThat(copy.status("state")).startsWith("shared");
            }
            assertThat(second.status("state")).isEqualTo("shared with an earlier copy in this process");
            assertThat(second.functions()).isEqualTo(first.functions()).doesNotContain(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldShareNamedAccounts(Packaging packaging) throws Exception {
        assumeNativeLibrary();
        try (LibraryCopy first = new LibraryCopy(jar, LibraryCopy.PACKAGE);
                LibraryCopy second = load(packaging)) {
            String type = "copies." + packaging.name().toLowerCase(Locale.ROOT);
            Object firstType = first.accountType(type);
            Object secondType = second.accountType(type);
            for (int i = 0; i < 100; i++) {
                first.enterAndClose(first.account(firstType, "acme"));
                second.enterAndClose(second.account(secondType, "acme"));
                second.enterAndClose(second.account(secondType, "other tenant " + i % 2));
                assertThat(first.rows(firstType).keySet())
                        .isEqualTo(second.rows(secondType).keySet());
            }
            Map<String, Long> rows = first.rows(firstType);
            assertThat(rows).containsOnlyKeys("acme", "other tenant 0", "other tenant 1");
            assertThat(second.rows(secondType)).isEqualTo(rows);
            assertThat(rows.get("acme"))
                    .isEqualTo(CpuAccounts.type(type).of("acme").cpuNanos());
        }
    }

    /** The agent's kill switch. */
    @Test
    void shouldObeyTheSwitchInEveryCopy() throws Exception {
        assumeNativeLibrary();
        try (LibraryCopy first = new LibraryCopy(jar, LibraryCopy.PACKAGE);
                LibraryCopy second = new LibraryCopy(jar, LibraryCopy.PACKAGE);
                LibraryCopy later = new LibraryCopy(jar, LibraryCopy.PACKAGE)) {
            List<LibraryCopy> all = List.of(first, second, later);
            assertThat(first.status("backend")).isEqualTo(ExpectedBackend.name());
            assertThat(second.status("backend")).isEqualTo(ExpectedBackend.name());
            try {
                first.selectBackend(BACKEND_OFF);
                for (LibraryCopy copy : all) {
                    assertThat(copy.status("backend")).isEqualTo("syscall");
                    assertThat(copy.status("backends")).contains("backend=rseq, usable=false, reason=switched off");
                    assertThat(copy.status("calibration")).isEqualTo("null");
                }
                second.restore();
                for (LibraryCopy copy : all) assertThat(copy.status("backend")).isEqualTo("syscall");
            } finally {
                first.selectBackend(BACKEND_ON);
                first.status("backend"); // has it selected again
            }
            for (LibraryCopy copy : all) assertThat(copy.status("backend")).isEqualTo(ExpectedBackend.name());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"status", "time"})
    void shouldShareTheStateLater(String retry) throws Exception {
        assumeNativeLibrary();
        assertThat(runLateSharing(retry).out()).isEqualTo("""
                        own: cannot create a shared page (ftruncate: errno 27)
                        shared, first copy in this process
                        shared with an earlier copy in this process
                        syscall after the switch
                        """);
    }

    /** The first copy must obey the switch of the second one, whose state it cannot use: its readings are ahead. */
    @Test
    void shouldAskTheKernelIfAnotherCopyHasSharedItsStateMeanwhile() throws Exception {
        assumeNativeLibrary();
        String best = ExpectedBackend.name();
        assertThat(runLateSharing("second").out())
                .isEqualTo("own: cannot create a shared page (ftruncate: errno 27)\n"
                        + "shared, first copy in this process\n"
                        + "own: another copy shares its state, so this one asks the kernel at each reading\n"
                        + "syscall, " + best + "\n");
    }

    private ChildJvm runLateSharing(String scenario) throws Exception {
        // The first copy needs no file of its own, so only its page is affected by the limit.
        List<String> options = List.of("-Dtaskclock.library.path=" + givenLibrary());
        return ChildJvm.run(options, LateSharing.class, scenario).succeeded();
    }

    private Path givenLibrary() throws Exception {
        Path given = directory.resolve("given.so");
        try (var library = Library.class.getResourceAsStream(ExpectedBackend.libraryName())) {
            Files.copy(library, given);
        }
        return given;
    }

    /** Loads a copy while no page can be created, and a second one later. */
    static final class LateSharing {
        private static final long LIMIT_NANOS = 60_000_000_000L;

        private LateSharing() {}

        public static void main(String[] arguments) throws Exception {
            SystemCalls.gettid(); // loads the tests' library
            require(SystemCalls.limitFileSize(0));
            require(TaskClock.cpuNanos() >= 0);
            String before = Library.state();
            require(SystemCalls.removeLimits());
            System.out.println(before);
            switch (arguments[0]) {
                case "second" -> {}
                case "status" -> System.out.println(TaskClock.status().state());
                default -> {
                    long end = System.nanoTime() + LIMIT_NANOS;
                    while (Library.state().equals(before) && System.nanoTime() < end) Thread.sleep(10);
                    System.out.println(Library.state());
                }
            }
            try (LibraryCopy second = new LibraryCopy(Path.of(System.getProperty("test.jar")), LibraryCopy.PACKAGE)) {
                System.out.println(second.status("state"));
                if (arguments[0].equals("second")) {
                    System.out.println(TaskClock.status().state());
                    System.out.println(TaskClock.status().backend() + ", " + second.status("backend"));
                } else {
                    second.selectBackend(BACKEND_OFF);
                    System.out.println(TaskClock.status().backend() + " after the switch");
                }
            }
        }

        private static void require(boolean condition) {
            if (!condition) throw new AssertionError();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNeverContradictEachOther(Packaging packaging) throws Exception {
        assumeNativeLibrary();
        try (LibraryCopy first = new LibraryCopy(jar, LibraryCopy.PACKAGE);
                LibraryCopy second = load(packaging)) {
            interleave(first, second);
        }
    }

    /**
     * Switches between user and kernel mode at irregular times, so that the split has to be corrected after each tick.
     * A copy with its own history would correct it differently.
     */
    private static void interleave(LibraryCopy first, LibraryCopy second) {
        Random random = new Random(42);
        long end = first.cpuNanos() + INTERLEAVED_NANOS;
        CpuTime last = new CpuTime(0, 0, 0);
        while (last.cpuNanos() < end) {
            work(random.nextBoolean(), 100_000 + random.nextInt(6_000_000));
            LibraryCopy copy = random.nextBoolean() ? first : second;
            for (int read = random.nextInt(8) + 1; read > 0; read--) {
                copy = random.nextInt(4) > 0 ? copy : copy == first ? second : first;
                last = read(copy, random.nextInt(4), last);
            }
        }
    }

    /** Updates one or all parts of the last reading, and checks that none decreases. */
    private static CpuTime read(LibraryCopy copy, int part, CpuTime last) {
        CpuTime now =
                switch (part) {
                    case 0 -> new CpuTime(copy.cpuNanos(), last.userNanos(), last.systemNanos());
                    case 1 -> new CpuTime(last.cpuNanos(), copy.userNanos(), last.systemNanos());
                    case 2 -> new CpuTime(last.cpuNanos(), last.userNanos(), copy.systemNanos());
                    default -> copy.now();
                };
        assertThat(now.cpuNanos()).isGreaterThanOrEqualTo(last.cpuNanos());
        assertThat(now.userNanos()).isGreaterThanOrEqualTo(last.userNanos());
        assertThat(now.systemNanos()).isGreaterThanOrEqualTo(last.systemNanos());
        if (part == 3) assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
        // The parts come from different readings, so their sum must not exceed the current total.
        assertThat(now.userNanos() + now.systemNanos()).isLessThanOrEqualTo(copy.cpuNanos());
        return now;
    }

    private static void work(boolean inKernel, int nanos) {
        long end = SystemCalls.threadCpuNanos() + nanos;
        while (SystemCalls.threadCpuNanos() < end) {
            if (inKernel) SystemCalls.touchPages(64);
            else spin();
        }
    }

    private static void spin() {
        double sum = 0;
        for (int i = 1; i < 20_000; i++) sum += Math.sqrt(i);
        assertThat(sum).isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"syscall", "mxbean"})
    void shouldUnload(String backend) {
        if (backend.equals("syscall")) assumeNativeLibrary();
        System.out.print(runUnloadStress(List.of("-Dtaskclock.backend=" + backend)));
    }

    /**
     * The JVM ties a library file to one class loader: the first copy loads the given file, the others extract theirs.
     */
    @Test
    void shouldUnloadWithAGivenLibrary() throws Exception {
        assumeNativeLibrary();
        runUnloadStress(List.of("-Dtaskclock.backend=syscall", "-Dtaskclock.library.path=" + givenLibrary()));
    }

    private static String runUnloadStress(List<String> options) {
        // Keeps the number of the JVM's own threads constant.
        List<String> all = new ArrayList<>(List.of("-XX:-UseDynamicNumberOfCompilerThreads"));
        all.addAll(options);
        String out = ChildJvm.run(all, UnloadStress.class).succeeded().out();
        assertThat(out).contains("collected 60 copies");
        return out;
    }

    private static void assumeNativeLibrary() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
    }
}
