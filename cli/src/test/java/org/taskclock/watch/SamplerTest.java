// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.ProcStat;

/** What threads of real JVMs used, beside what they say themselves. */
class SamplerTest {
    private static final String BUSY = "a busy thread with a long name, number 1";
    private static final long MILLIS = 1_000_000;
    /** Storms are looked for so often, half a second each: a machine with other work gives the child little. */
    private static final int TRIES = 40;

    private static Row row(Frame frame, String name) {
        return frame.rows().stream()
                .filter(r -> r.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Two points of the interval, and the time that passed between one's look and the other's. */
    private static long tolerance(Frame frame, long lookedAt, Loaded.Truth start, Loaded.Truth end) {
        long skew = Math.abs(end.after() - start.before() - frame.intervalNanos());
        return frame.intervalNanos() / 50 + skew + Math.abs(System.nanoTime() - lookedAt) / 100;
    }

    private static void assertSound(Frame frame) {
        assertThat(frame.rows()).isNotEmpty().allSatisfy(row -> {
            assertThat(row.cpuNanos()).isGreaterThanOrEqualTo(0);
            if (row.threads() == 1) assertThat(row.cpuNanos()).isLessThanOrEqualTo(frame.intervalNanos());
            assertThat(row.userNanos()).isBetween(0L, row.cpuNanos());
            assertThat(row.systemNanos()).isEqualTo(row.cpuNanos() - row.userNanos());
            if (row.tid() != 0) assertThat(row.waitNanos()).isBetween(0L, frame.intervalNanos());
            assertThat(row.voluntary()).isGreaterThanOrEqualTo(-1);
            assertThat(row.involuntary()).isGreaterThanOrEqualTo(-1);
        });
        Totals totals = frame.totals();
        assertThat(totals.processNanos()).isBetween(0L, totals.processors() * frame.intervalNanos());
        assertThat(totals.processUserNanos()).isBetween(0L, totals.processNanos());
        assertThat(totals.machineNanos()).isGreaterThanOrEqualTo(0);
        assertThat(totals.ownNanos()).isPositive();
        assertThat(frame.rows()).isSortedAccordingTo((a, b) -> Long.compare(b.cpuNanos(), a.cpuNanos()));
    }

    @Test
    void shouldTellWhatThreadsSayThemselves() throws Exception {
        try (Loaded load = Loaded.with("busy", "kernel", "idle=3");
                Sampler sampler = Sampler.of(load.pid())) {
            assertThat(sampler.next().rows()).isEmpty();
            for (int i = 0; i < 2; i++) {
                Loaded.Truth start = load.truth();
                sampler.next();
                Thread.sleep(1_000);
                Loaded.Truth end = load.truth();
                long looked = System.nanoTime();
                Frame frame = sampler.next();
                assertSound(frame);
                long tolerance = tolerance(frame, looked, start, end);
                for (String name : List.of(BUSY, "kernel-calls", "pool-7-thread-2")) {
                    Row row = row(frame, name);
                    assertThat((double) row.cpuNanos())
                            .describedAs(name)
                            .isCloseTo((double) end.cpuSince(start, name), within(tolerance));
                    // Texts of either side are in steps of 10 ms.
                    assertThat((double) row.userNanos())
                            .describedAs("user of " + name)
                            .isCloseTo((double) end.userSince(start, name), within(tolerance + 20 * MILLIS));
                }
                assertThat((double) frame.totals().processNanos())
                        .isCloseTo((double) end.cpuSince(start, "(process)"), within(2 * tolerance));
                assertThat((double)
                                frame.rows().stream().mapToLong(Row::cpuNanos).sum())
                        .isCloseTo((double) frame.totals().processNanos(), within(frame.intervalNanos() / 50));
                assertThat(row(frame, "kernel-calls").systemNanos())
                        .isGreaterThan(row(frame, BUSY).systemNanos());
                assertThat(row(frame, BUSY))
                        .matches(r -> r.javaId() > 0 && !r.cut() && r.kind() == Row.Kind.JAVA, "known to the JVM")
                        .matches(r -> r.pool().equals("a busy thread with a long name, number #"), "pool")
                        .matches(r -> r.voluntary() > 0, "it sleeps between bursts");
                assertThat(row(frame, "VM Thread").kind()).isEqualTo(Row.Kind.VM);
                assertThat(frame.rows()).anyMatch(r -> r.kind() == Row.Kind.GC).anyMatch(r -> r.kind() == Row.Kind.JIT);
                assertThat(frame.rows())
                        .filteredOn(r -> r.pool().equals("pool-#-thread-#"))
                        .hasSize(3);
                assertThat(frame.notes()).isEmpty();
                assertThat(frame.name()).endsWith("Load");
            }
            int tid = sampler.next().rows().stream()
                    .filter(r -> r.name().equals("pool-7-thread-1"))
                    .findFirst()
                    .orElseThrow()
                    .tid();
            assertThat(sampler.stacks(tid)).startsWith("\"pool-7-thread-1\"").contains("java.lang.Thread.sleep");
            assertThatThrownBy(() -> sampler.stacks(1))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("1");
        }
    }

    private static org.assertj.core.data.Offset<Double> within(long nanos) {
        return org.assertj.core.data.Offset.offset((double) nanos);
    }

    @Test
    void shouldCountThreadsThatComeAndGo() throws Exception {
        try (Loaded load = Loaded.with("idle");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            load.tell("churn 3");
            sampler.next();
            Loaded.Truth start = load.truth();
            sampler.next();
            long used = Long.parseLong(load.tell("churn 30").get(0).split("\t", 3)[1]);
            Loaded.Truth end = load.truth();
            Frame frame = sampler.next();
            assertSound(frame);
            long sum = frame.rows().stream().mapToLong(Row::cpuNanos).sum();
            assertThat(used).isGreaterThan(100 * MILLIS);
            assertThat(row(frame, "(ended threads)").cpuNanos()).isGreaterThan(used - frame.intervalNanos() / 50);
            assertThat((double) sum)
                    .isCloseTo(
                            (double) end.cpuSince(start, "(process)"),
                            within(tolerance(frame, System.nanoTime(), start, end)));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2_000, 10_000})
    void shouldNameEachOfManyThreads(int threads) throws Exception {
        try (Loaded load = Loaded.with("idle=" + (threads - 50), "lightly=50");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.next();
            Thread.sleep(300);
            Frame frame = sampler.next();
            assertSound(frame);
            assertThat(frame.rows().stream().filter(r -> r.pool().equals("pool-#-thread-#") && !r.cut()))
                    .hasSize(threads - 50);
            assertThat(frame.rows().stream().filter(r -> r.pool().equals("lightly-#") && r.cpuNanos() > 0))
                    .hasSize(50);
        }
    }

    @Test
    void shouldSayThatItHasEnded() throws Exception {
        try (Loaded load = Loaded.with("busy");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.next();
            load.end();
            assertThatThrownBy(sampler::next)
                    .isInstanceOfSatisfying(
                            Unwatchable.class, e -> assertThat(e.reason()).isEqualTo(Unwatchable.Reason.GONE))
                    .hasMessage("process " + load.pid() + " has ended");
        }
        assertThatThrownBy(() -> Sampler.of(999_999_999)).hasMessage("there is no process 999999999");
    }

    /** By its name alone, of which the kernel has 15 characters: it is none where the JVM has no virtual threads. */
    @Test
    void shouldTakeNoThreadForACarrierBeforeJdk21() throws Exception {
        try (Loaded load = Loaded.with("carrier");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            Thread.sleep(200);
            Row.Kind kind = sampler.next().rows().stream()
                    .filter(row -> row.name().startsWith("ForkJoi"))
                    .findFirst()
                    .orElseThrow()
                    .kind();
            assertThat(kind == Row.Kind.CARRIER).isEqualTo(Runtime.version().feature() >= 21);
        }
    }

    @Test
    void shouldNotWaitForOneThatIsStopped() throws Exception {
        try (Loaded load = Loaded.with("busy")) {
            load.signal("STOP");
            // Each thread stops when it next has a processor.
            while (ProcStat.read("/proc/" + load.pid() + "/stat").state() != 'T') Thread.sleep(1);
            long start = System.nanoTime();
            try (Sampler sampler = Sampler.of(load.pid())) {
                assertThat(sampler.next().notes()).anyMatch(n -> n.contains("it is stopped"));
                Thread.sleep(200);
                Frame frame = sampler.next();
                assertSound(frame);
                assertThat(frame.rows()).allMatch(r -> r.state() == 'T' && r.cpuNanos() < MILLIS);
                assertThat(row(frame, cut(frame, BUSY)).cut()).isTrue();
                assertThatThrownBy(() -> sampler.stacks(1)).hasMessageContaining("stopped");
            }
            assertThat(System.nanoTime() - start).isLessThan(10_000 * MILLIS);
        }
    }

    /** The kernel's name of a thread, which JDK 26 and later cut in the middle. */
    private static String cut(Frame frame, String name) {
        return frame.rows().stream()
                .map(Row::name)
                .filter(n -> n.length() == 15 && n.startsWith(name.substring(0, 7)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldLeaveOneAloneThatForbidsAttaching() throws Exception {
        try (Loaded load = Loaded.with("-XX:+DisableAttachMechanism", "busy")) {
            try (Sampler sampler = Sampler.of(load.pid())) {
                sampler.next();
                Thread.sleep(300);
                Frame frame = sampler.next();
                assertThat(frame.notes()).anyMatch(n -> n.contains("-XX:+DisableAttachMechanism"));
                assertThat(row(frame, cut(frame, BUSY)))
                        .matches(r -> r.cut() && r.javaId() == 0 && r.cpuNanos() > 0, "by the kernel's name");
            }
            // A signal would have made it print all its stacks.
            assertThat(load.end()).isEmpty();
        }
    }

    @Test
    void shouldGoOnWhereItIsInterrupted() throws Exception {
        try (Loaded load = Loaded.with("busy");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            Thread.sleep(200);
            Thread.currentThread().interrupt();
            Frame frame = sampler.next();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(row(frame, cut(frame, BUSY)).cpuNanos()).isPositive();
            Thread.sleep(100);
            assertSound(sampler.next());
        }
    }

    private static Diagnosis find(Sampler sampler, Predicate<Diagnosis> wanted) throws Exception {
        Frame frame = sampler.next();
        for (int i = 0; i < TRIES; i++) {
            Thread.sleep(500);
            frame = sampler.next();
            for (Diagnosis found : frame.diagnoses()) if (wanted.test(found)) return found;
        }
        throw new AssertionError("not found; the last interval was " + frame);
    }

    @Test
    void shouldFindAYieldStormByItsStack() throws Exception {
        try (Loaded load = Loaded.with("yield");
                Sampler sampler = Sampler.of(load.pid())) {
            Diagnosis found = find(sampler, d -> d.text().contains("\" calls Thread.yield all the time"));
            assertThat(found.kind()).isEqualTo("yield-storm");
            assertThat(found.text()).startsWith("thread \"yielder\"");
            assertThat(found.evidence()).anyMatch(e -> e.contains("was in Thread.yield"));
        }
    }

    @Test
    void shouldSayThatAYieldStormIsNotConfirmed() throws Exception {
        try (Loaded load = Loaded.with("yield");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            Diagnosis found = find(sampler, d -> d.kind().equals("yield-storm"));
            assertThat(found.text()).contains("behaves as one that");
            assertThat(found.evidence()).anyMatch(e -> e.startsWith("not confirmed"));
        }
    }

    @Test
    void shouldFindCollectionThatEatsTheProcessor() throws Exception {
        try (Loaded load = Loaded.with("-XX:+UseParallelGC", "-Xmx32m", "-Xmn2m", "garbage");
                Sampler sampler = Sampler.of(load.pid())) {
            assertThat(find(sampler, d -> d.kind().equals("gc")).text()).startsWith("garbage collection takes");
        }
    }

    @Test
    void shouldFindWhatVirtualThreadsDo() throws Exception {
        assumeThat(Runtime.version().feature())
                .describedAs("virtual threads came with 21")
                .isGreaterThanOrEqualTo(21);
        try (Loaded load = Loaded.with("virtual-yield=2");
                Sampler sampler = Sampler.of(load.pid())) {
            Diagnosis found = find(sampler, d -> d.kind().equals("yield-storm"));
            assertThat(found.text()).startsWith("virtual threads on");
        }
        try (Loaded load = Loaded.with("virtual-hog");
                Sampler sampler = Sampler.of(load.pid())) {
            assertThat(find(sampler, d -> d.kind().equals("carrier-monopolised"))
                            .text())
                    .contains("keeps its carrier");
        }
    }

    @Test
    void shouldSeeWhatTheAgentTells() throws Exception {
        boolean virtual = Runtime.version().feature() >= 21;
        String agent = Path.of(System.getProperty("cli.jar"))
                .resolveSibling("taskclock-agent.jar")
                .toString();
        try (Loaded load =
                        Loaded.with("-javaagent:" + agent + "=yield=count", "yield", virtual ? "virtual=4" : "idle");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.next();
            Thread.sleep(700);
            Frame frame = sampler.next();
            assertSound(frame);
            assertThat(frame.source()).isEqualTo("agent");
            assertThat(sampler.yields()).isGreaterThan(1_000);
            List<Row> groups = frame.rows().stream()
                    .filter(r -> r.kind() == Row.Kind.VIRTUAL)
                    .toList();
            if (virtual) {
                assertThat(row(frame, "request-#").threads()).isEqualTo(4);
                long carriers = frame.rows().stream()
                        .filter(r -> r.kind() == Row.Kind.CARRIER)
                        .mapToLong(Row::cpuNanos)
                        .sum();
                // The agent is asked some time after the threads are read.
                assertThat((double) groups.stream().mapToLong(Row::cpuNanos).sum())
                        .isCloseTo((double) carriers, within(frame.intervalNanos() / 10));
            } else {
                assertThat(groups).isEmpty();
            }
            Diagnosis found = find(sampler, d -> d.evidence().stream().anyMatch(e -> e.contains("the agent counted")));
            assertThat(found.evidence()).anyMatch(e -> e.contains("Load.giveWay"));
        }
    }

    @Test
    void shouldAgreeWithPidstat() throws Exception {
        assumeThat(Files.exists(Path.of("/usr/bin/pidstat")))
                .describedAs("pidstat (Debian: sysstat)")
                .isTrue();
        try (Loaded load = Loaded.with("busy", "kernel");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.next();
            Process pidstat = new ProcessBuilder("pidstat", "-u", "-p", Long.toString(load.pid()), "1", "1").start();
            sampler.next();
            String said = new String(pidstat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Frame frame = sampler.next();
            String average = said.lines()
                    .filter(l -> l.startsWith("Average:") && l.contains("java"))
                    .findFirst()
                    .orElseThrow();
            // UID, PID, %usr, %system, %guest, %wait, %CPU, CPU
            double theirs = Double.parseDouble(average.split(" +", -1)[7]);
            assertThat(frame.percent(frame.totals().processNanos()))
                    .isCloseTo(theirs, org.assertj.core.data.Offset.offset(4.0));
        }
    }
}
