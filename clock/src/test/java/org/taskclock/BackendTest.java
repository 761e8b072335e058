// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.internal.JdkVersions;

/** Tests which backend is selected, how the status reports it, and that every read works on it. */
class BackendTest {
    private static final String EXPECTED = ExpectedBackend.name();
    private static final String BINDING = Runtime.version().feature() >= JdkVersions.FOREIGN_FUNCTIONS ? "FFM" : "JNI";

    @Test
    void shouldSelectTheBestBackendAndGiveReasons() {
        ChildJvm child = ChildJvm.run(StatusPrinter.class).succeeded();
        assertThat(child.out()).contains("backend=" + EXPECTED + "\n", "mxbean+ThreadMXBean", "cpu=known");
        assertThat(child.err()).isEmpty();
        if (!EXPECTED.equals("mxbean")) {
            assertThat(child.out())
                    .contains(
                            "binding=" + BINDING + "\n",
                            "syscall+one clock_gettime call with id 0, through " + BINDING);
            assertThat(child.out()).contains("state=shared, first copy in this process\n");
        } else {
            assertThat(child.out()).contains("binding=none\n").containsPattern("(?m)^syscall-.+");
        }
    }

    @Test
    void shouldCalibrateOverIncreasingIntervals() {
        assumeTrue(EXPECTED.startsWith("rseq"), "the " + EXPECTED + " backend does not read the counter");
        String[] output =
                ChildJvm.run(CalibrationPrinter.class).succeeded().out().trim().split(" ", 4);
        long firstNanos = Long.parseLong(output[0]);
        assertThat(firstNanos).isBetween(1_000_000L, 10_000_000_000L);
        assertThat(Long.parseLong(output[1])).isGreaterThan(firstNanos);
        // A guest that is interrupted in all four tries of a measurement is off by a few microseconds in 10 ms.
        assertThat(Long.parseLong(output[2])).as("difference in ppm").isLessThan(1_000);
        assertThat(output[3]).as("calibration resets").isEqualTo("0");
    }

    @Test
    void shouldUseTheSystemCallIfForced() {
        assumeNativeLibrary();
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.backend=syscall"), StatusPrinter.class)
                .succeeded();
        assertThat(child.out()).contains("backend=syscall\n", "binding=" + BINDING + "\n", "cpu=known");
        assertThat(child.out()).contains("calibration=null\n", "accuracy=null\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"rseq-own,syscall | syscall", "rseq,rseq-own,syscall | best"})
    void shouldUseTheFirstOfSeveralBackendsThatWorks(String backends, String expected) {
        assumeNativeLibrary();
        assumeTrue(ExpectedBackend.name(false).equals(EXPECTED), "libc leaves the registration to the clock");
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.backend=" + backends), StatusPrinter.class);
        assertThat(child.succeeded().out())
                .contains("backend=" + (expected.equals("best") ? EXPECTED : expected) + "\n");
    }

    @Test
    void shouldLoadNoNativeLibraryIfForcedToMxbean() {
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.backend=mxbean"), StatusPrinter.class)
                .succeeded();
        assertThat(child.out()).contains("backend=mxbean\n", "mxbean+", "binding=none\n", "state=none\n", "cpu=known");
        assertThat(child.out()).contains("calibration=null\n", "accuracy=null\n");
        assertThat(child.out()).contains("syscall-switched off by -Dtaskclock.backend=mxbean\n");
    }

    @Test
    void shouldUseThreadMXBeanOnAnotherSystem() {
        ChildJvm child =
                ChildJvm.run(List.of("-Dos.name=Plan9"), StatusPrinter.class).succeeded();
        assertThat(child.out()).contains("backend=mxbean\n", "binding=none\n", "cpu=known");
        assertThat(child.out())
                .containsPattern("(?m)^syscall-no native library for Plan9-.+Linux-amd64 and Linux-aarch64$");
    }

    @ParameterizedTest
    @ValueSource(strings = {"arm", "i386", "aarch64_be", "riscv64"})
    void shouldUseThreadMXBeanOnAnotherProcessor(String architecture) {
        ChildJvm child = ChildJvm.run(List.of("-Dos.arch=" + architecture), StatusPrinter.class)
                .succeeded();
        assertThat(child.out()).contains("backend=mxbean\n", "syscall-no native library for Linux-" + architecture);
    }

    @Test
    void shouldFailIfForcedToTheSystemCallOnAnotherSystem() {
        ChildJvm child = ChildJvm.run(List.of("-Dos.name=Plan9", "-Dtaskclock.backend=syscall"), StatusPrinter.class);
        assertThat(child.exit()).isNotZero();
        assertThat(child.err()).contains("IllegalStateException: -Dtaskclock.backend=syscall", "Plan9");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fast", "", "SYSCALL", "rseq,", "syscall,mxbean", "rseq,fast"})
    void shouldFailIfForcedToAnUnknownBackend(String name) {
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.backend=" + name), StatusPrinter.class);
        assertThat(child.exit()).isNotZero();
        assertThat(child.err())
                .contains("IllegalArgumentException: -Dtaskclock.backend=" + name + ":")
                .contains("[rseq, rseq-own, rseq-take, syscall, mxbean]");
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadEverythingOnEachBackend(Backend backend) {
        boolean isRseqOwn = backend == Backend.RSEQ_OWN;
        if (backend == Backend.SYSCALL) assumeNativeLibrary();
        assumeSupported(backend);
        List<String> command = ChildJvm.command(List.of("-Dtaskclock.backend=" + backend), ReadExerciser.class);
        if (isRseqOwn) command.addAll(0, List.of("env", "GLIBC_TUNABLES=glibc.pthread.rseq=0"));
        ChildJvm child = ChildJvm.run(command).succeeded();
        assertThat(child.out()).isEqualTo("all reads passed on " + backend + "\n");
        assertThat(child.err()).isEmpty();
    }

    private static void assumeSupported(Backend backend) {
        boolean isSupported =
                switch (backend) {
                    case RSEQ -> ExpectedBackend.name(false).equals("rseq");
                    case RSEQ_OWN, RSEQ_TAKE -> ExpectedBackend.name(true).equals("rseq-own");
                    default -> true;
                };
        assumeTrue(isSupported, "this kernel does not support " + backend);
    }

    /** Some collectors ask for the processor, which libc otherwise finds in its area. */
    @ParameterizedTest
    @ValueSource(strings = {"UseSerialGC", "UseParallelGC", "UseZGC"})
    void shouldTakeAreasAndGiveThemBack(String collector) {
        assumeSupported(Backend.RSEQ_TAKE);
        List<String> options = List.of(
                "-Dtaskclock.backend=rseq-take",
                "-Xcheck:jni",
                "-XX:-UseSerialGC",
                "-XX:+" + collector,
                "-XX:+UseNUMA");
        ChildJvm child = ChildJvm.run(options, TakeProgram.class).succeeded();
        assertThat(child.out()).isEqualTo("passed\n");
    }

    @Test
    void shouldNotTakeAreasUnlessThatIsAllowed() {
        assumeNativeLibrary();
        ChildJvm child = ChildJvm.run(StatusPrinter.class).succeeded();
        String reason = EXPECTED.equals("syscall") ? "not allowed: " : "not tested, because ";
        assertThat(child.out()).contains("rseq-take-" + reason);
    }

    /** The kernel kills processes that use rseq-own when rseq_debug is turned on, which kernels have since 6.19. */
    @ParameterizedTest
    @CsvSource({"6.3.0, false", "6.18.44-x, false", "6.19-rc1, true", "7.0.0-1-generic, true", "10.1, true", "?, false"
    })
    void shouldWarnOfRseqDebugWhileRseqOwnIsInUse(String kernel, boolean warns) {
        assumeTrue(ExpectedBackend.name(true).equals("rseq-own"), "this kernel does not support rseq-own");
        List<String> command = ChildJvm.command(List.of("-Dos.version=" + kernel), StatusPrinter.class);
        if (warns) assertThat(ChildJvm.run(command).succeeded().out()).doesNotContain("rseq_debug");
        command.addAll(0, List.of("env", "GLIBC_TUNABLES=glibc.pthread.rseq=0"));
        assertThat(ChildJvm.run(command).succeeded().out().lines().filter(line -> line.contains("rseq_debug")))
                .hasSize(warns ? 1 : 0)
                .allMatch(line -> line.startsWith("rseq-own+") && line.contains("kills this process"));
    }

    @ParameterizedTest
    @CsvSource({"100ns,100", "1us,1000", "250us,250000", "2ms,2000000"})
    void shouldUseTheConfiguredAccuracy(String accuracy, long nanos) {
        assumeTrue(EXPECTED.startsWith("rseq"), "the " + EXPECTED + " backend does not read the counter");
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.accuracy=" + accuracy), StatusPrinter.class);
        assertThat(child.succeeded().out()).contains("accuracy=Accuracy[budgetNanos=" + nanos + ", ");
    }

    @Test
    void shouldUseLongBaseLivesForLowAccuracy() {
        assumeTrue(EXPECTED.startsWith("rseq"), "the " + EXPECTED + " backend does not read the counter");
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.accuracy=1ms"), StatusPrinter.class);
        assertThat(child.succeeded().out()).contains("lifeNanos=" + ContractVerifier.MAX_BASE_LIFE_NANOS + ", ");
    }

    @Test
    void shouldAlwaysAskTheKernelIfAccuracyIsExact() {
        assumeNativeLibrary();
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.accuracy=exact"), StatusPrinter.class);
        assertThat(child.succeeded().out())
                .contains("backend=syscall\n", "accuracy=null\n", "cpu=known")
                .containsPattern("(?m)^rseq-.*accuracy=exact")
                .containsPattern("(?m)^rseq-own-.*accuracy=exact");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rseq", "rseq-own", "rseq-take"})
    void shouldFailIfForcedToRseqWithExactAccuracy(String backend) {
        assumeNativeLibrary();
        List<String> options = List.of("-Dtaskclock.accuracy=exact", "-Dtaskclock.backend=" + backend);
        ChildJvm child = ChildJvm.run(options, StatusPrinter.class);
        assertThat(child.exit()).isNotZero();
        assertThat(child.err())
                .contains("IllegalStateException: -Dtaskclock.backend=" + backend, "-Dtaskclock.accuracy=exact");
    }

    @Test
    void shouldFailIfTheAccuracyIsInvalid() {
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.accuracy=fast"), StatusPrinter.class);
        assertThat(child.exit()).isNotZero();
        assertThat(child.err()).contains("IllegalArgumentException: -Dtaskclock.accuracy=fast:");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "100", "us", "fast", "EXACT", "-1us", "0ns", "1s", "11ms", "1 us", "99999999999999999999ns"})
    void shouldRejectInvalidAccuracies(String accuracy) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AccuracyBudget.parse(accuracy))
                .withMessageStartingWith("-Dtaskclock.accuracy=" + accuracy + ":");
    }

    private static void assumeNativeLibrary() {
        assumeTrue(!"mxbean".equals(EXPECTED), "no native library for this system");
    }
}
