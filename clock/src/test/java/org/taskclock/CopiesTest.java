// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several copies of the library in one process: in other class loaders, in other packages, coming and going. */
class CopiesTest {
    private static final String SHADED = "com.acme.shaded.clock";

    /** Enough for hundreds of ticks, each of which makes copies disagree that do not share their state. */
    private static final long INTERLEAVED_NANOS = 2_000_000_000L;

    @TempDir
    Path directory;

    enum Kind {
        AS_IT_IS,
        SHADED_WITH_MODULE_INFO,
        SHADED_WITHOUT
    }

    private final Path jar = Path.of(System.getProperty("test.jar"));

    private Copy another(Kind kind) throws Exception {
        if (kind == Kind.AS_IT_IS) return new Copy(jar, Copy.PACKAGE);
        boolean keepModuleInfo = kind == Kind.SHADED_WITH_MODULE_INFO;
        return new Copy(Shading.relocate(jar, directory.resolve("shaded.jar"), SHADED, keepModuleInfo), SHADED);
    }

    @ParameterizedTest
    @EnumSource
    void shouldShareOneState(Kind kind) throws Exception {
        assumeLibrary();
        try (Copy first = new Copy(jar, Copy.PACKAGE);
                Copy second = another(kind)) {
            for (Copy copy : List.of(first, second)) {
                assertThat(copy.status("rung")).isEqualTo(Expected.rung());
                assertThat(copy.status("binding")).isEqualTo(Runtime.version().feature() >= 22 ? "FFM" : "JNI");
                assertThat(copy.status("state")).startsWith("shared");
            }
            assertThat(second.status("state")).isEqualTo("shared with an earlier copy in this process");
            assertThat(second.functions()).isEqualTo(first.functions()).doesNotContain(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNeverContradictEachOther(Kind kind) throws Exception {
        assumeLibrary();
        try (Copy first = new Copy(jar, Copy.PACKAGE);
                Copy second = another(kind)) {
            interleave(first, second);
        }
    }

    /**
     * Changes between user and kernel mode at odd times, so that after each tick the split has to be steered to something
     * else than was extrapolated; a copy with a history of its own would steer elsewhere.
     */
    private static void interleave(Copy first, Copy second) {
        Random random = new Random(42);
        long end = first.cpuNanos() + INTERLEAVED_NANOS;
        CpuTime least = new CpuTime(0, 0, 0);
        while (least.cpuNanos() < end) {
            work(random.nextBoolean(), 100_000 + random.nextInt(6_000_000));
            Copy copy = random.nextBoolean() ? first : second;
            for (int read = random.nextInt(8) + 1; read > 0; read--) {
                copy = random.nextInt(4) > 0 ? copy : copy == first ? second : first;
                least = read(copy, random.nextInt(4), least);
            }
        }
    }

    /** One reading, which must not be less than any before. */
    private static CpuTime read(Copy copy, int what, CpuTime least) {
        CpuTime now =
                switch (what) {
                    case 0 -> new CpuTime(copy.cpuNanos(), least.userNanos(), least.systemNanos());
                    case 1 -> new CpuTime(least.cpuNanos(), copy.userNanos(), least.systemNanos());
                    case 2 -> new CpuTime(least.cpuNanos(), least.userNanos(), copy.systemNanos());
                    default -> copy.now();
                };
        assertThat(now.cpuNanos()).isGreaterThanOrEqualTo(least.cpuNanos());
        assertThat(now.userNanos()).isGreaterThanOrEqualTo(least.userNanos());
        assertThat(now.systemNanos()).isGreaterThanOrEqualTo(least.systemNanos());
        if (what == 3) assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
        // Parts of different readings: together no more than there is by now.
        assertThat(now.userNanos() + now.systemNanos()).isLessThanOrEqualTo(copy.cpuNanos());
        return now;
    }

    private static void work(boolean inKernel, int nanos) {
        long end = Os.threadCpuNanos() + nanos;
        while (Os.threadCpuNanos() < end) {
            if (inKernel) Os.touchPages(64);
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
    void shouldComeAndGo(String rung) {
        if (rung.equals("syscall")) assumeLibrary();
        System.out.print(comeAndGo(List.of("-Dtaskclock.rung=" + rung)));
    }

    /** The JVM ties a file to one class loader: the first copy has the given file, others extract theirs. */
    @Test
    void shouldComeAndGoWithALibraryThatIsGiven() throws Exception {
        assumeLibrary();
        Path given = directory.resolve("given.so");
        try (var library = Library.class.getResourceAsStream("libtaskclock-linux-x86_64.so")) {
            Files.copy(library, given);
        }
        comeAndGo(List.of("-Dtaskclock.rung=syscall", "-Dtaskclock.library.path=" + given));
    }

    private static String comeAndGo(List<String> options) {
        // So that threads of the JVM itself are as many at the end as at the start.
        List<String> all = new ArrayList<>(List.of("-XX:+UseSerialGC", "-XX:-UseDynamicNumberOfCompilerThreads"));
        all.addAll(options);
        String out = ChildJvm.run(all, ComingAndGoing.class).succeeded().out();
        assertThat(out).contains("collected 200 copies");
        return out;
    }

    private static void assumeLibrary() {
        assumeTrue(Expected.isNative(), "no native library for this system");
    }
}
