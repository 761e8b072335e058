// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.ProcStat;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.CarrierMonopolized;
import org.taskclock.monitor.finding.CarrierPinned;
import org.taskclock.monitor.finding.CarrierStarvation;
import org.taskclock.monitor.finding.CpuContention;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.GarbageCollection;
import org.taskclock.monitor.finding.SchedulingHeavy;
import org.taskclock.monitor.finding.SystemHeavy;
import org.taskclock.monitor.finding.YieldStorm;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.LoadJvm;
import org.taskclock.testing.LoadProgram;

/** Compares readings of real JVMs with what their own ThreadMXBean reports. */
class SamplerTest {
    private static final String BUSY = "a busy thread with a long name, number 1";
    private static final long MILLIS = 1_000_000;
    /** The longest tick of any kernel. */
    private static final long TICK = 10 * MILLIS;
    /** Each attempt takes a quarter of a second. Many are needed if the child gets little CPU time. */
    private static final int MAX_ATTEMPTS = 80;

    private static ThreadUsage thread(Interval interval, String name) {
        return interval.threads().stream()
                .filter(t -> t.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Allows for the time between the reading and the reference, at both ends of the interval. */
    private static long tolerance(Interval interval, long referenceAt, LoadJvm.Reference start, LoadJvm.Reference end) {
        long skew = Math.abs(end.after() - start.before() - interval.intervalNanos());
        return interval.intervalNanos() / 50 + skew + Math.abs(System.nanoTime() - referenceAt) / 100;
    }

    private static void assertConsistent(Interval interval) {
        assertThat(interval.threads()).isNotEmpty().allSatisfy(thread -> {
            assertThat(thread.cpuNanos()).isGreaterThanOrEqualTo(0);
            if (thread.threads() == 1) assertThat(thread.cpuNanos()).isLessThanOrEqualTo(interval.intervalNanos());
            assertThat(thread.userNanos()).isBetween(0L, thread.cpuNanos());
            assertThat(thread.systemNanos()).isEqualTo(thread.cpuNanos() - thread.userNanos());
            if (thread.tid() != 0) assertThat(thread.waitNanos()).isBetween(0L, interval.intervalNanos());
            assertThat(thread.voluntary()).isGreaterThanOrEqualTo(-1);
            assertThat(thread.involuntary()).isGreaterThanOrEqualTo(-1);
        });
        ProcessUsage totals = interval.totals();
        assertThat(totals.processNanos()).isBetween(0L, totals.processors() * interval.intervalNanos());
        assertThat(totals.processUserNanos()).isBetween(0L, totals.processNanos());
        assertThat(totals.machineNanos()).isGreaterThanOrEqualTo(0);
        assertThat(totals.ownNanos()).isPositive();
        assertThat(interval.threads()).isSortedAccordingTo((a, b) -> Long.compare(b.cpuNanos(), a.cpuNanos()));
    }

    @Test
    void shouldAgreeWithThreadMXBean() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy", "kernel", "idle=3");
                Sampler sampler = Sampler.of(load.pid())) {
            assertThat(sampler.next().threads()).isEmpty();
            for (int i = 0; i < 2; i++) {
                LoadJvm.Reference start = load.reference();
                sampler.next();
                Thread.sleep(1_000);
                LoadJvm.Reference end = load.reference();
                long referenceAt = System.nanoTime();
                Interval interval = sampler.next();
                assertConsistent(interval);
                long tolerance = tolerance(interval, referenceAt, start, end);
                for (String name : List.of(BUSY, "kernel-calls", "pool-7-thread-2")) {
                    ThreadUsage thread = thread(interval, name);
                    assertThat((double) thread.cpuNanos())
                            .describedAs(name)
                            .isCloseTo((double) end.cpuSince(start, name), within(tolerance));
                    // Both readings have steps of 10 ms, the unit of /proc.
                    assertThat((double) thread.userNanos())
                            .describedAs("user of " + name)
                            .isCloseTo((double) end.userSince(start, name), within(tolerance + 20 * MILLIS));
                }
                assertThat((double) interval.totals().processNanos())
                        .isCloseTo((double) end.cpuSince(start, "(process)"), within(2 * tolerance));
                assertThat((double) interval.threads().stream()
                                .mapToLong(ThreadUsage::cpuNanos)
                                .sum())
                        .isCloseTo((double) interval.totals().processNanos(), within(interval.intervalNanos() / 50));
                assertThat(thread(interval, "kernel-calls").systemNanos())
                        .isGreaterThan(thread(interval, BUSY).systemNanos());
                assertThat(thread(interval, BUSY))
                        .matches(
                                t -> t.javaId() > 0 && !t.truncated() && t.kind() == ThreadKind.JAVA,
                                "known to the JVM")
                        .matches(t -> t.pool().equals("a busy thread with a long name, number #"), "pool")
                        .matches(t -> t.voluntary() > 0, "it sleeps between bursts");
                assertThat(thread(interval, "VM Thread").kind()).isEqualTo(ThreadKind.VM);
                assertThat(interval.threads())
                        .anyMatch(t -> t.kind() == ThreadKind.GC)
                        .anyMatch(t -> t.kind() == ThreadKind.JIT);
                assertThat(interval.threads())
                        .filteredOn(t -> t.pool().equals("pool-#-thread-#"))
                        .hasSize(3);
                assertThat(interval.notes()).isEmpty();
                assertThat(interval.name()).endsWith("LoadProgram");
            }
            int tid = sampler.next().threads().stream()
                    .filter(t -> t.name().equals("pool-7-thread-1"))
                    .findFirst()
                    .orElseThrow()
                    .tid();
            assertThat(sampler.stacks(tid)).startsWith("\"pool-7-thread-1\"").contains("java.lang.Thread.sleep");
            assertThatThrownBy(() -> sampler.stacks(1))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("1");
        }
    }

    private static Offset<Double> within(long nanos) {
        return Offset.offset((double) nanos);
    }

    @Test
    void shouldCountThreadsThatEndWithinAnInterval() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            load.send("churn 3");
            sampler.next();
            LoadJvm.Reference start = load.reference();
            sampler.next();
            long used = Long.parseLong(load.send("churn 30").get(0).split("\t", 3)[1]);
            LoadJvm.Reference end = load.reference();
            Interval interval = sampler.next();
            assertConsistent(interval);
            long sum =
                    interval.threads().stream().mapToLong(ThreadUsage::cpuNanos).sum();
            assertThat(used).isGreaterThan(100 * MILLIS);
            assertThat(thread(interval, "(ended threads)").cpuNanos())
                    .isGreaterThan(used - interval.intervalNanos() / 20);
            assertThat((double) sum)
                    .isCloseTo(
                            (double) end.cpuSince(start, "(process)"),
                            within(tolerance(interval, System.nanoTime(), start, end)));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReportTheCpuTimeSinceTheStartOfAThread(boolean attach) throws Exception {
        try (LoadJvm load = LoadJvm.start("busy")) {
            while (load.reference().nanos().get(BUSY)[0] < 100 * MILLIS) Thread.sleep(10);
            try (Sampler sampler = attach ? Sampler.of(load.pid()) : Sampler.withoutAttach(load.pid())) {
                LoadJvm.Reference beforeWatching = load.reference();
                sampler.next();
                LoadJvm.Reference watching = load.reference();
                long cpuNanos = 0;
                Interval interval = null;
                LoadJvm.Reference before = null;
                for (int i = 0; i < 3; i++) {
                    Thread.sleep(200);
                    before = load.reference();
                    interval = sampler.next();
                    cpuNanos += thread(interval, attach ? BUSY : kernelName(interval, BUSY))
                            .cpuNanos();
                }
                LoadJvm.Reference after = load.reference();
                ThreadUsage busy = thread(interval, attach ? BUSY : kernelName(interval, BUSY));
                // The kernel updates the file of a running thread only at each tick.
                assertThat(busy.totalNanos())
                        .isBetween(
                                before.nanos().get(BUSY)[0] - TICK,
                                after.nanos().get(BUSY)[0]);
                assertThat(busy.watchedNanos())
                        .isEqualTo(cpuNanos)
                        .isBetween(before.cpuSince(watching, BUSY) - TICK, after.cpuSince(beforeWatching, BUSY) + TICK);
            }
        }
    }

    @Test
    void shouldKeepTheCpuTimeOfThreadsThatEndedInTheirPool() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            LoadJvm.Reference start = load.reference();
            CompletableFuture<List<String>> churn = CompletableFuture.supplyAsync(() -> {
                try {
                    return load.send("churn 30");
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            long unseen = 0;
            List<Integer> ended = new ArrayList<>();
            while (!churn.isDone()) {
                Thread.sleep(5);
                Interval interval = sampler.next();
                unseen = unseenNanos(interval, unseen);
                ended.add(shortThreads(interval).threads());
            }
            long used = Long.parseLong(churn.get().get(0).split("\t", 3)[1]);
            Interval interval = sampler.next();
            EndedPool pool = shortThreads(interval);
            assertThat(ended).isSorted();
            assertThat(pool.threads()).isBetween(1, 30);
            assertThat(pool.totalNanos()).isPositive().isEqualTo(pool.watchedNanos());
            long all = load.reference().cpuSince(start, "(process)");
            assertThat(pool.totalNanos() + unseenNanos(interval, unseen)).isBetween(used / 2, all);
        }
    }

    private static EndedPool shortThreads(Interval interval) {
        return interval.endedPools().stream()
                .filter(pool -> pool.pool().equals("short-#"))
                .findFirst()
                .orElse(new EndedPool("short-#", ThreadKind.JAVA, 0, 0, 0));
    }

    /** Returns the CPU time of ended threads after their last reading, which belongs to no pool. */
    private static long unseenNanos(Interval interval, long before) {
        return interval.threads().stream()
                .filter(thread -> thread.name().equals("(ended threads)"))
                .mapToLong(ThreadUsage::watchedNanos)
                .findFirst()
                .orElse(before);
    }

    @Test
    void shouldNameAllOfManyThreads() throws Exception {
        nameAll(2_000);
    }

    @Test
    @Tag("slow17")
    void shouldNameAllOfVeryManyThreads() throws Exception {
        nameAll(10_000);
    }

    private static void nameAll(int threads) throws Exception {
        try (LoadJvm load = LoadJvm.start("idle=" + (threads - 50), "lightly=50");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.next();
            Thread.sleep(300);
            Interval interval = sampler.next();
            assertConsistent(interval);
            assertThat(interval.threads().stream().filter(t -> t.pool().equals("pool-#-thread-#") && !t.truncated()))
                    .hasSize(threads - 50);
            assertThat(interval.threads().stream().filter(t -> t.pool().equals("lightly-#") && t.cpuNanos() > 0))
                    .hasSize(50);
        }
    }

    @Test
    void shouldReportThatTheJvmHasExited() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.next();
            load.end();
            assertThatThrownBy(sampler::next)
                    .isInstanceOfSatisfying(
                            MonitorException.class, e -> assertThat(e.reason()).isEqualTo(MonitorException.Reason.GONE))
                    .hasMessage("process " + load.pid() + " has exited");
        }
        assertThatThrownBy(() -> Sampler.of(999_999_999)).hasMessage("there is no process 999999999");
    }

    /** Without attaching, a carrier is recognized by its truncated name, unless the JVM has no virtual threads. */
    @Test
    void shouldFindNoCarriersBeforeJdk21() throws Exception {
        try (LoadJvm load = LoadJvm.start("carrier");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            Thread.sleep(200);
            ThreadKind kind = sampler.next().threads().stream()
                    .filter(t -> t.name().startsWith("ForkJoi"))
                    .findFirst()
                    .orElseThrow()
                    .kind();
            assertThat(kind == ThreadKind.CARRIER)
                    .isEqualTo(Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS);
        }
    }

    @Test
    void shouldNotWaitForStoppedJvm() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy")) {
            load.signal("STOP");
            // Each thread stops when it is next scheduled.
            while (ProcStat.read("/proc/" + load.pid() + "/stat").state() != 'T') Thread.sleep(1);
            long start = System.nanoTime();
            try (Sampler sampler = Sampler.of(load.pid())) {
                assertThat(sampler.next().notes()).anyMatch(n -> n.contains("it is stopped"));
                Thread.sleep(200);
                Interval interval = sampler.next();
                assertConsistent(interval);
                assertThat(interval.threads()).allMatch(t -> t.state() == 'T' && t.cpuNanos() < MILLIS);
                assertThat(thread(interval, kernelName(interval, BUSY)).truncated())
                        .isTrue();
                assertThatThrownBy(() -> sampler.stacks(1)).hasMessageContaining("stopped");
            }
            assertThat(System.nanoTime() - start).isLessThan(10_000 * MILLIS);
        }
    }

    /** Returns the kernel's name of a thread, which JDK 26 and later shorten in the middle. */
    private static String kernelName(Interval interval, String name) {
        return interval.threads().stream()
                .map(ThreadUsage::name)
                .filter(n -> n.length() == 15 && n.startsWith(name.substring(0, 7)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldNotSignalJvmThatForbidsAttaching() throws Exception {
        try (LoadJvm load = LoadJvm.start("-XX:+DisableAttachMechanism", "busy")) {
            try (Sampler sampler = Sampler.of(load.pid())) {
                sampler.next();
                Thread.sleep(300);
                Interval interval = sampler.next();
                assertThat(interval.notes()).anyMatch(n -> n.contains("-XX:+DisableAttachMechanism"));
                assertThat(thread(interval, kernelName(interval, BUSY)))
                        .matches(t -> t.truncated() && t.javaId() == 0 && t.cpuNanos() > 0, "by the kernel's name");
            }
            // SIGQUIT would have made the JVM print a thread dump.
            assertThat(load.end()).isEmpty();
        }
    }

    @Test
    void shouldSurviveInterrupts() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            Thread.sleep(200);
            Thread.currentThread().interrupt();
            Interval interval = sampler.next();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(thread(interval, kernelName(interval, BUSY)).cpuNanos()).isPositive();
            Thread.sleep(100);
            interval = sampler.next();
            assertConsistent(interval);
            assertThat(interval.totals().heap()).isNotNull();
        }
    }

    /** Runs a program that may open at most so many files. Returns its output. */
    private static String runLimited(int files, Class<?> program, LoadJvm target) throws Exception {
        String classPath = Stream.of(SamplerTest.class, Sampler.class, TaskClock.class, LoadJvm.class)
                .map(type ->
                        type.getProtectionDomain().getCodeSource().getLocation().getPath())
                .collect(Collectors.joining(":"));
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -n " + files + "; exec \"$@\"",
                        "sh",
                        java,
                        "-cp",
                        classPath + ":" + System.getProperty("java.class.path"),
                        program.getName(),
                        Long.toString(target.pid()))
                .redirectErrorStream(true)
                .start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldNotMistakeALackOfFileDescriptorsForTheEndOfTheJvm() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy")) {
            assertThat(runLimited(300, ManyOpenFiles.class, load)).endsWith("true\ntrue\nexited\n");
        }
    }

    @Test
    void shouldLeaveHalfOfTheFileDescriptorsToTheRestOfTheProcess() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle=150")) {
            assertThat(runLimited(600, ManySamplers.class, load)).endsWith("150 150 150\n300 files, then 0\n");
        }
    }

    /** Samples a JVM three times at once. Each thread has three files. */
    static final class ManySamplers {
        public static void main(String[] args) throws Exception {
            List<Sampler> samplers = new ArrayList<>();
            for (int i = 0; i < 3; i++) samplers.add(Sampler.withoutAttach(Long.parseLong(args[0])));
            StringJoiner idle = new StringJoiner(" ");
            for (Sampler sampler : samplers) sampler.next();
            for (Sampler sampler : samplers)
                idle.add(Long.toString(sampler.next().threads().stream()
                        .filter(thread -> thread.name().startsWith("pool-7-"))
                        .count()));
            System.out.println(idle);
            long open = countFiles(args[0]);
            for (Sampler sampler : samplers) sampler.close();
            System.out.println(open + " files, then " + countFiles(args[0]));
        }

        private static long countFiles(String pid) throws IOException {
            try (var files = Files.list(Path.of("/proc/self/fd"))) {
                return files.filter(file -> {
                            try {
                                return Files.readSymbolicLink(file).startsWith("/proc/" + pid);
                            } catch (IOException e) {
                                return false;
                            }
                        })
                        .count();
            }
        }
    }

    /** Samples a JVM while all file descriptors are in use. */
    static final class ManyOpenFiles {
        public static void main(String[] args) throws Exception {
            long pid = Long.parseLong(args[0]);
            try (Sampler sampler = Sampler.withoutAttach(pid)) {
                for (int i = 0; i < 2; i++) sampler.next();
                List<FileInputStream> files = new ArrayList<>();
                try {
                    while (true) files.add(new FileInputStream("/dev/null"));
                } catch (FileNotFoundException e) {
                    // All are in use.
                }
                Interval interval = sampler.next();
                System.out.println(interval.notes()
                        .contains("new threads are missing, because too many files are open: raise the limit with"
                                + " ulimit -n"));
                System.out.println(interval.threads().size() > 5);
                for (FileInputStream file : files) file.close();
                ProcessHandle.of(pid).orElseThrow().destroyForcibly();
                while (true) {
                    sampler.next();
                    Thread.sleep(10);
                }
            } catch (MonitorException e) {
                System.out.println(e.getMessage().replaceAll("process [0-9]+ has ", ""));
            }
        }
    }

    private static Finding find(Sampler sampler, Predicate<Finding> condition) throws Exception {
        Interval interval = sampler.next();
        for (int i = 0; i < MAX_ATTEMPTS; i++) {
            Thread.sleep(250);
            interval = sampler.next();
            for (Finding found : interval.findings()) if (condition.test(found)) return found;
        }
        throw new AssertionError("not found; the last interval was " + interval);
    }

    @Test
    void shouldConfirmYieldStormByStack() throws Exception {
        try (LoadJvm load = LoadJvm.start("yield");
                Sampler sampler = Sampler.of(load.pid())) {
            Finding found = find(sampler, d -> d.text().contains("\" keeps calling Thread.yield"));
            assertThat(found.kind()).isEqualTo(new YieldStorm());
            assertThat(found.text()).startsWith("thread \"yielder\"");
            assertThat(found.evidence()).anyMatch(e -> e.contains("was in Thread.yield"));
        }
    }

    @Test
    void shouldNotClaimAYieldStormWithoutAttaching() throws Exception {
        try (LoadJvm load = LoadJvm.start("yield");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            Finding found = find(sampler, d -> d.kind() instanceof SystemHeavy);
            assertThat(found.evidence()).anyMatch(e -> e.contains("may be calling Thread.yield; no stack sample"));
        }
    }

    @Test
    void shouldFindExcessiveGarbageCollection() throws Exception {
        try (LoadJvm load = LoadJvm.start("-XX:+UseParallelGC", "-Xmx32m", "-Xmn2m", "garbage");
                Sampler sampler = Sampler.of(load.pid())) {
            assertThat(find(sampler, d -> d.kind() instanceof GarbageCollection).text())
                    .startsWith("garbage collection uses");
        }
    }

    @Test
    void shouldFindVirtualThreads() throws Exception {
        assumeThat(Runtime.version().feature())
                .describedAs("virtual threads")
                .isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        try (LoadJvm load = LoadJvm.start("virtual-yield=2");
                Sampler sampler = Sampler.of(load.pid())) {
            Finding found = find(sampler, d -> d.kind() instanceof YieldStorm);
            assertThat(found.text()).startsWith("virtual threads on");
            assertThat(found.evidence())
                    .contains("to count the yields by call site, run taskclock yields " + load.pid());
        }
        try (LoadJvm load = LoadJvm.start("virtual-hog");
                Sampler sampler = Sampler.of(load.pid())) {
            assertThat(find(sampler, d -> d.kind() instanceof CarrierMonopolized)
                            .text())
                    .contains("keeps its carrier");
        }
    }

    /** Each of eight carriers uses little CPU time. */
    @Test
    void shouldFindVirtualThreadsThatYieldOnManyCarriers() throws Exception {
        assumeThat(Runtime.version().feature())
                .describedAs("virtual threads")
                .isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        String agent = "-javaagent:" + System.getProperty("agent.jar") + "=yield=";
        String[] load = {"-Djdk.virtualThreadScheduler.parallelism=8", "virtual-yield-often=16"};
        try (LoadJvm counted = LoadJvm.start(agent + "count", load[0], load[1]);
                Sampler sampler = Sampler.of(counted.pid())) {
            Finding found = find(sampler, d -> d.text().contains("times per second"));
            assertThat(found.kind()).isEqualTo(new YieldStorm());
            assertThat(found.evidence())
                    .anyMatch(e -> e.contains("LoadProgram.yieldOften"))
                    .noneMatch(e -> e.contains("taskclock yields"));
        }
        try (LoadJvm notCounted = LoadJvm.start(agent + "pass", load[0], load[1]);
                Sampler sampler = Sampler.of(notCounted.pid())) {
            assertThat(find(sampler, d -> d.kind() instanceof SchedulingHeavy).evidence())
                    .contains("to count the yields by call site, run taskclock yields " + notCounted.pid());
        }
    }

    @Test
    void shouldFindVirtualThreadsThatWaitForACarrier() throws Exception {
        assumeThat(Runtime.version().feature())
                .describedAs("virtual threads")
                .isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        String[] jvm = {
            "-javaagent:" + System.getProperty("agent.jar"),
            "-Djdk.virtualThreadScheduler.parallelism=1",
            "-Djdk.virtualThreadScheduler.maxPoolSize=1"
        };
        try (LoadJvm busy = LoadJvm.start(jvm[0], jvm[1], jvm[2], "virtual-hog=4");
                Sampler sampler = Sampler.of(busy.pid())) {
            // If other tests use the machine, the carrier waits for a processor longer than it runs.
            Finding found =
                    find(sampler, d -> d.kind() instanceof CarrierStarvation || d.kind() instanceof CpuContention);
            if (found.kind() instanceof CarrierStarvation) {
                assertThat(found.text()).isEqualTo("3 virtual threads wait for a carrier");
                assertThat(found.evidence()).anyMatch(e -> e.endsWith("more to do than they can"));
            }
        }
        try (LoadJvm pinned = LoadJvm.start(jvm[0], jvm[1], jvm[2], "virtual-pinned", "virtual=4");
                Sampler sampler = Sampler.of(pinned.pid())) {
            Finding found = find(sampler, d -> d.kind() instanceof CarrierStarvation);
            assertThat(found.text()).isEqualTo("4 virtual threads wait for a carrier");
            assertThat(found.evidence()).anyMatch(e -> e.endsWith("they are pinned, or in native code"));
            Finding block = find(sampler, d -> d.kind() instanceof CarrierPinned);
            assertThat(block.text())
                    .containsPattern("virtual thread #\\d+ blocks its carrier \"ForkJoinPool-1-worker-1\"");
            if (Runtime.version().feature() >= JdkVersions.VIRTUAL_STACKS)
                assertThat(block.evidence())
                        .anyMatch(e -> e.contains(" was in org.taskclock.testing.LoadProgram.sleep("));
        }
    }

    @Test
    void shouldUseAgentReport() throws Exception {
        boolean virtual = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
        String agent = Path.of(System.getProperty("agent.jar"))
                .resolveSibling("taskclock-agent.jar")
                .toString();
        try (LoadJvm load =
                        LoadJvm.start("-javaagent:" + agent + "=yield=count", "yield", virtual ? "virtual=4" : "idle");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.next();
            Interval interval;
            int attempts = 0;
            do {
                assertThat(attempts++).as("attempts to find 1,000 yields").isLessThan(MAX_ATTEMPTS);
                Thread.sleep(250);
                interval = sampler.next();
                assertConsistent(interval);
                assertThat(interval.source()).isEqualTo("agent");
            } while (sampler.yields() < 1_000);
            List<ThreadUsage> groups = interval.threads().stream()
                    .filter(t -> t.kind() == ThreadKind.VIRTUAL)
                    .toList();
            if (virtual) {
                assertThat(thread(interval, "request-#").threads()).isEqualTo(4);
                long carriers = interval.threads().stream()
                        .filter(t -> t.kind() == ThreadKind.CARRIER)
                        .mapToLong(ThreadUsage::cpuNanos)
                        .sum();
                // The agent reports some time after the threads were read.
                assertThat((double)
                                groups.stream().mapToLong(ThreadUsage::cpuNanos).sum())
                        .isCloseTo((double) carriers, within(interval.intervalNanos() / 10));
            } else {
                assertThat(groups).isEmpty();
            }
            Finding found = find(sampler, d -> d.evidence().stream().anyMatch(e -> e.contains("the agent counted")));
            assertThat(found.evidence()).anyMatch(e -> e.contains("LoadProgram.yieldForever"));
        }
    }

    @Test
    void shouldAgreeWithPidstat() throws Exception {
        assumeThat(Files.exists(Path.of("/usr/bin/pidstat")))
                .describedAs("pidstat (Debian: sysstat)")
                .isTrue();
        try (LoadJvm load = LoadJvm.start("busy", "kernel");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            Process pidstat = new ProcessBuilder("pidstat", "-u", "-p", Long.toString(load.pid()), "1", "1").start();
            sampler.next();
            String output = new String(pidstat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Interval interval = sampler.next();
            String average = output.lines()
                    .filter(l -> l.startsWith("Average:") && l.contains("java"))
                    .findFirst()
                    .orElseThrow();
            // UID, PID, %usr, %system, %guest, %wait, %CPU, CPU
            double pidstatPercent = Double.parseDouble(average.split(" +", -1)[7]);
            assertThat(interval.percent(interval.totals().processNanos()))
                    .isCloseTo(pidstatPercent, Offset.offset(4.0));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotTakeThreadsOfTheProgramForThreadsOfTheCollector(boolean attach) throws Exception {
        try (LoadJvm load = LoadJvm.start("-XX:+UseSerialGC", "gc-names");
                Sampler sampler = attach ? Sampler.of(load.pid()) : Sampler.withoutAttach(load.pid())) {
            sampler.next();
            Thread.sleep(500);
            Interval interval = sampler.next();
            for (String name : LoadProgram.GC_NAMES) {
                // Without attaching, only the name is known.
                boolean isKnown = attach || !name.equals("GC Thread#9");
                String shown = attach ? name : name.substring(0, Math.min(15, name.length()));
                assertThat(thread(interval, shown).kind())
                        .as(name)
                        .isEqualTo(isKnown ? ThreadKind.JAVA : ThreadKind.GC);
            }
            assertThat(interval.findings()).extracting(Finding::kind).doesNotContain(new GarbageCollection());
        }
    }

    @Test
    void shouldNotTakeNewJavaThreadsForNativeOnes() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.next();
            sampler.watchJavaStatus(true); // takes a dump for each interval
            List<ThreadKind> kinds = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                Thread.sleep(250); // dumps are 10 ms apart for each thread
                load.send("start lightly");
                // A thread that has not run yet has no name.
                for (ThreadUsage thread : sampler.next().threads())
                    if (thread.name().startsWith("lightly")) kinds.add(thread.kind());
            }
            assertThat(kinds).containsOnly(ThreadKind.JAVA);
        }
    }
}
