// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountReading;
import org.taskclock.AccountType;
import org.taskclock.AccountUsage;
import org.taskclock.CpuTime;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.ThreadSampler;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.sampling.ProcThread;
import org.taskclock.monitor.sampling.ProcThreads;
import org.taskclock.monitor.usage.ThreadUsage;

/** What is added to readings if the agent answers, is missing, or fails, with answers that the tests make up. */
class AgentPoolsTest {
    private static final long SECOND = 1_000_000_000;
    private static final PoolKey VIRTUAL_YIELDS = new PoolKey("other", ThreadKind.VIRTUAL);

    private final AtomicInteger requests = new AtomicInteger();
    private Executor worker = Runnable::run;
    private long now;
    private long processNanos = 1_000;
    private AgentReport answer;
    private boolean fails;

    private AgentReport send(boolean isPresent) throws IOException {
        requests.incrementAndGet();
        if (fails) throw new IOException("it did not answer");
        return answer;
    }

    private AgentPools agent(boolean fromStart) {
        return new AgentPools(1, this::send, fromStart, worker, 5 * SECOND, () -> now, () -> processNanos);
    }

    private static AgentReport report(long cpuNanos, long yields) throws IOException {
        return AgentReport.parse("""
                {"pools":[], "carriers":[], "yielders":[], "yieldSites":[], "health":{"features":[]},
                 "yieldMode":"count", "virtualYields":%d,
                 "virtualThreads":[{"name":"request-#", "live":3, "cpuNanos":%d, "userNanos":%d}]}
                """.formatted(yields, cpuNanos, cpuNanos / 2));
    }

    @Test
    void shouldKnowTheStatesOfVirtualThreadsOnlyIfTheyAreAccountedFor() throws IOException {
        AgentPools agent = agent(true);
        String report = """
                {"pools":[], "carriers":[{"tid":7}, {"tid":0}], "yielders":[], "yieldSites":[], "yieldMode":"pass",
                 "health":{"features":[{"name":"vthreads", "state":"%s"}]}, "queuedVirtualThreads":5,
                 "virtualThreadParallelism":2, "virtualThreads":[{"name":"request-#", "live":9, "mounted":2}]}
                """;
        answer = AgentReport.parse(report.formatted("on"));
        read(agent);
        assertThat(agent.virtualThreads()).isEqualTo(new VirtualThreadCounts(9, 2, 5, 2));
        assertThat(agent.virtualThreads().waiting()).isEqualTo(2);
        assertThat(agent.carriers()).containsExactly(7L);
        answer = AgentReport.parse(report.formatted("off"));
        read(agent);
        assertThat(agent.virtualThreads()).isEqualTo(VirtualThreadCounts.UNKNOWN);
    }

    private static AgentReport accountReport(long acme, long other) throws IOException {
        return accountReport(acme, other, AccountType.OTHER);
    }

    private static AgentReport accountReport(long acme, long rest, String nameOfRest) throws IOException {
        return AgentReport.parse("""
                {"pools":[], "carriers":[], "yielders":[], "yieldSites":[], "health":{"features":[]},
                 "yieldMode":"pass", "virtualThreads":[], "accounts":[
                 {"type":"tenant", "name":"acme", "cpuNanos":%d, "userNanos":%d, "waitNanos":-1, "sections":9},
                 {"type":"tenant", "name":"%s", "cpuNanos":%d, "userNanos":0, "waitNanos":-1}]}
                """.formatted(acme, acme / 2, nameOfRest, rest));
    }

    @Test
    void shouldAddWhatAccountsUsedSinceThePreviousReading() throws IOException {
        AgentPools agent = agent(false);
        answer = accountReport(100, 7);
        assertThat(read(agent).pools()).as("before watching began").isEmpty();
        assertThat(agent.accounts())
                .extracting(AccountUsage::name, AccountUsage::cpuNanos, AccountUsage::sections)
                .containsExactlyInAnyOrder(tuple("acme", 100L, 9L), tuple("other", 7L, 0L));
        answer = accountReport(130, 9);
        PoolReading second = read(agent);
        assertThat(second.pools())
                .extracting(ThreadUsage::pool, ThreadUsage::cpuNanos, ThreadUsage::userNanos)
                .containsExactlyInAnyOrder(tuple("tenant=acme", 30L, 15L), tuple("tenant=other", 2L, 0L));
        assertThat(second.usages()).as("contained in the threads' time").isEmpty();
    }

    @Test
    void shouldNotCountTwiceWhatAnAccountUsedBeforeItLostItsRow() throws IOException {
        AgentPools agent = agent(false);
        answer = accountReport(100, 7);
        read(agent);
        answer = report(0, 0);
        read(agent);
        answer = accountReport(103, 7);
        assertThat(read(agent).pools())
                .filteredOn(usage -> usage.pool().equals("tenant=acme"))
                .extracting(ThreadUsage::cpuNanos)
                .containsExactly(3L);
    }

    @Test
    void shouldNotCountWhatTheProcessUsedBeforeTheFirstAccountOfAType() throws IOException {
        AgentPools agent = agent(false);
        answer = report(0, 0);
        read(agent);
        answer = accountReport(30, 20_000_000_000L, AccountReading.UNACCOUNTED);
        assertThat(read(agent).pools())
                .extracting(ThreadUsage::pool, ThreadUsage::cpuNanos)
                .containsExactlyInAnyOrder(tuple("tenant=acme", 30L), tuple("tenant=(unaccounted)", 0L));
        assertThat(agent.takeProblem()).isNull();
        answer = accountReport(30, 20_000_000_009L, AccountReading.UNACCOUNTED);
        assertThat(read(agent).pools())
                .extracting(ThreadUsage::pool, ThreadUsage::cpuNanos)
                .containsExactlyInAnyOrder(tuple("tenant=acme", 0L), tuple("tenant=(unaccounted)", 9L));
    }

    @Test
    void shouldRefuseAccountsThatClaimMoreThanTheProcessUsedMeanwhile() throws IOException {
        AgentPools agent = agent(false);
        answer = accountReport(0, 0);
        read(agent);
        answer = accountReport(1_000_000_000_000L, 0);
        assertThat(read(agent).pools()).isEmpty();
        assertThat(agent.takeProblem()).contains("accounts since its last report");
    }

    /** A report with a hundred accounts takes milliseconds. */
    @Test
    void shouldAskAnIdleProcessLessOftenForAccounts() throws IOException {
        AgentPools agent = agent(true);
        answer = accountReport(100, 7);
        assertThat(requestsIn(10, agent, 10_000_000)).as("idle").isEqualTo(2);
        assertThat(requestsIn(10, agent, SECOND / 2))
                .as("busy after the first second")
                .isEqualTo(9);
        answer = report(0, 0);
        assertThat(requestsIn(10, agent, 0)).as("virtual threads").isGreaterThanOrEqualTo(9);
    }

    private int requestsIn(int seconds, AgentPools agent, long nanosPerSecond) {
        int before = requests.get();
        for (int i = 0; i < seconds; i++) {
            agent.addEarlierTo(new PoolReading(List.of(), new CpuTime(0, 0, 0)), List.of());
            now += SECOND;
            processNanos += nanosPerSecond;
        }
        return requests.get() - before;
    }

    private static PoolReading read(AgentPools agent) {
        PoolReading reading = new PoolReading(List.of(), new CpuTime(0, 0, 0));
        return agent.addTo(reading, List.of(), Long.MAX_VALUE);
    }

    /** Returns the CPU time of virtual threads in the next reading; -1 if there are none. */
    private static long cpuNanos(AgentPools agent) {
        List<ThreadUsage> pools = read(agent).pools();
        assertThat(pools).hasSizeLessThan(2);
        return pools.isEmpty() ? -1 : pools.get(0).cpuNanos();
    }

    @Test
    void shouldAddWhatVirtualThreadsUsedSinceThePreviousReading() throws IOException {
        AgentPools agent = agent(true);
        answer = report(100, 7);
        PoolReading first = read(agent);
        assertThat(first.pools().get(0).cpuNanos()).isEqualTo(100);
        assertThat(first.pools().get(0).userNanos()).isEqualTo(50);
        assertThat(first.pools().get(0).threads()).isEqualTo(3);
        assertThat(first.yields()).containsEntry(VIRTUAL_YIELDS, 7L);
        answer = report(130, 9);
        PoolReading second = read(agent);
        assertThat(second.pools().get(0).cpuNanos()).isEqualTo(30);
        assertThat(second.pools().get(0).userNanos()).isEqualTo(15);
        assertThat(second.yields()).containsEntry(VIRTUAL_YIELDS, 2L);
    }

    @Test
    void shouldAddEarlierAnswersWithoutWaiting() throws IOException {
        List<Runnable> tasks = new ArrayList<>();
        worker = tasks::add;
        AgentPools agent = agent(true);
        answer = report(100, 0);
        assertThat(earlierCpuNanos(agent)).as("just asked").isEqualTo(-1);
        assertThat(earlierCpuNanos(agent)).as("not answered").isEqualTo(-1);
        assertThat(tasks).as("not asked again").hasSize(1);
        tasks.remove(0).run();
        assertThat(earlierCpuNanos(agent)).isEqualTo(100);
        assertThat(tasks).as("asked for the next").hasSize(1);
        answer = report(130, 0);
        assertThat(earlierCpuNanos(agent)).isEqualTo(-1);
        tasks.remove(0).run();
        assertThat(earlierCpuNanos(agent)).isEqualTo(30);
    }

    private static long earlierCpuNanos(AgentPools agent) {
        PoolReading reading = new PoolReading(List.of(), new CpuTime(0, 0, 0));
        List<ThreadUsage> pools = agent.addEarlierTo(reading, List.of()).pools();
        return pools.isEmpty() ? -1 : pools.get(0).cpuNanos();
    }

    /** The carriers have that much more meanwhile, and less later (PoolCounters). */
    @Test
    void shouldAddALateAnswerToALaterReading() throws IOException {
        List<Runnable> tasks = new ArrayList<>();
        worker = tasks::add;
        AgentPools agent = agent(true);
        answer = report(100, 7);
        agent.ask();
        tasks.remove(0).run();
        assertThat(cpuNanos(agent)).isEqualTo(100);
        agent.ask();
        PoolReading reading = new PoolReading(List.of(), new CpuTime(0, 0, 0));
        long start = System.nanoTime();
        assertThat(agent.addTo(reading, List.of(), now + TimeUnit.MILLISECONDS.toNanos(50)))
                .isEqualTo(reading);
        assertThat(agent.addTo(reading, List.of(), now - 1)).isEqualTo(reading);
        assertThat(System.nanoTime() - start)
                .isBetween(TimeUnit.MILLISECONDS.toNanos(50), TimeUnit.MILLISECONDS.toNanos(1_900));
        assertThat(tasks).as("not asked again").hasSize(1);
        answer = report(130, 9);
        tasks.remove(0).run();
        assertThat(cpuNanos(agent)).isEqualTo(30);
    }

    @Test
    void shouldNotBelieveInMoreThanTheProcessHasUsed() throws IOException {
        AgentPools agent = agent(true);
        processNanos = 10 * SECOND;
        answer = report(11 * SECOND, 0);
        assertThat(cpuNanos(agent)).isEqualTo(-1);
        assertThat(agent.takeProblem()).contains("claims 11.0 s", "only used 10.0 s");
        assertThat(agent.takeProblem()).isNull();
        answer = report(9 * SECOND, 0);
        assertThat(cpuNanos(agent)).as("too early to ask again").isEqualTo(-1);
        now += TimeUnit.SECONDS.toNanos(30);
        assertThat(cpuNanos(agent)).as("after a gap").isZero();
        processNanos = 12 * SECOND;
        answer = report(11 * SECOND, 0);
        assertThat(cpuNanos(agent)).isEqualTo(2 * SECOND);
        // The process has used more before.
        answer = report(12 * SECOND, 0);
        assertThat(cpuNanos(agent)).isEqualTo(-1);
        assertThat(agent.takeProblem()).contains("claims 1.0 s", "only used 0.0 s");
    }

    /** What is used from the request to the report may be in either of two reports. */
    @Test
    void shouldBelieveInWhatWasUsedWhileTheAgentWasAsked() throws IOException {
        List<Runnable> tasks = new ArrayList<>();
        worker = tasks::add;
        AgentPools agent = agent(true);
        processNanos = 10 * SECOND;
        agent.ask();
        answer = report(10 * SECOND, 0);
        tasks.remove(0).run();
        processNanos = 15 * SECOND;
        assertThat(cpuNanos(agent)).isEqualTo(10 * SECOND);
        agent.ask();
        answer = report(15 * SECOND, 0);
        tasks.remove(0).run();
        assertThat(cpuNanos(agent)).isEqualTo(5 * SECOND);
    }

    /** The pool of a carrier that is not known as one also has the time of its virtual threads. */
    @Test
    void shouldNotCountTwiceWhatRanOnAnUnknownCarrier() throws IOException {
        int pid = (int) ProcessHandle.current().pid();
        ThreadSampler<ProcThread> sampler =
                new ProcThreads(pid, new ProcFile.Budget(8), new byte[4096], false).sampler(ended -> {});
        sampler.read(false, pid);
        ProcThread carrier = sampler.threads().iterator().next();
        sampler.assign(carrier, new PoolKey("carrier-#", ThreadKind.JAVA), false);
        AgentPools agent = agent(true);
        answer = reportOnCarrier(100, pid);
        assertThat(cpuNanosOn(carrier, agent)).isZero();
        sampler.assign(carrier, new PoolKey("carrier-#", ThreadKind.CARRIER), false);
        answer = reportOnCarrier(130, pid);
        assertThat(cpuNanosOn(carrier, agent)).isEqualTo(30);
        sampler.close();
    }

    private static AgentReport reportOnCarrier(long cpuNanos, int tid) throws IOException {
        return AgentReport.parse("""
                {"pools":[], "carriers":[{"tid":%d}], "yielders":[], "yieldSites":[], "health":{"features":[]},
                 "yieldMode":"pass", "virtualThreads":[{"name":"request-#", "live":3, "cpuNanos":%d}]}
                """.formatted(tid, cpuNanos));
    }

    private static long cpuNanosOn(ProcThread thread, AgentPools agent) {
        PoolReading reading = new PoolReading(List.of(), new CpuTime(0, 0, 0));
        return agent.addTo(reading, List.of(thread), Long.MAX_VALUE)
                .pools()
                .get(0)
                .cpuNanos();
    }

    /** A program can report new names each time. */
    @Test
    void shouldForgetGroupsThatAreGone() throws IOException {
        AgentPools agent = agent(true);
        answer = report(100, 7);
        assertThat(cpuNanos(agent)).isEqualTo(100);
        answer = AgentReport.parse("""
                {"pools":[], "carriers":[], "yielders":[], "yieldSites":[], "health":{"features":[]},
                 "yieldMode":"count", "virtualThreads":[]}
                """);
        assertThat(cpuNanos(agent)).isEqualTo(-1);
        answer = report(110, 7);
        assertThat(cpuNanos(agent)).isEqualTo(110);
    }

    @Test
    void shouldBeginNowIfTheJvmWasRunningBefore() throws IOException {
        AgentPools agent = agent(false);
        answer = report(100, 7);
        PoolReading first = read(agent);
        assertThat(first.pools().get(0).cpuNanos()).isZero();
        assertThat(first.yields()).containsEntry(VIRTUAL_YIELDS, 0L);
        answer = report(130, 9);
        assertThat(cpuNanos(agent)).isEqualTo(30);
    }

    /** Meanwhile, their CPU time counts for the carriers. */
    @Test
    void shouldNotAddWhatWasUsedWhileTheAgentWasNotAsked() throws IOException {
        AgentPools agent = agent(true);
        assertThat(cpuNanos(agent)).isEqualTo(-1);
        answer = report(100, 7);
        assertThat(cpuNanos(agent)).as("too early to look again").isEqualTo(-1);
        now += TimeUnit.SECONDS.toNanos(2);
        PoolReading found = read(agent);
        assertThat(found.pools().get(0).cpuNanos()).isZero();
        assertThat(found.pools().get(0).userNanos()).isZero();
        assertThat(found.yields()).as("yields are not in another pool").containsEntry(VIRTUAL_YIELDS, 7L);
        answer = report(130, 9);
        PoolReading next = read(agent);
        assertThat(next.pools().get(0).cpuNanos()).isEqualTo(30);
        assertThat(next.pools().get(0).userNanos()).isEqualTo(15);
    }

    @Test
    void shouldNotAddWhatWasUsedWhileTheAgentDidNotAnswer() throws IOException {
        AgentPools agent = agent(true);
        answer = report(100, 7);
        assertThat(cpuNanos(agent)).isEqualTo(100);
        fails = true;
        assertThat(cpuNanos(agent)).isEqualTo(-1);
        fails = false;
        answer = report(150, 9);
        assertThat(cpuNanos(agent)).as("too early to ask again").isEqualTo(-1);
        now += TimeUnit.SECONDS.toNanos(30);
        assertThat(cpuNanos(agent)).isZero();
        answer = report(160, 9);
        assertThat(cpuNanos(agent)).isEqualTo(10);
    }

    @Test
    void shouldLookForTheAgentLessAndLessOften() {
        AgentPools agent = agent(true);
        for (int second = 0; second < 600; second++) {
            read(agent);
            now += TimeUnit.SECONDS.toNanos(1);
        }
        // After 0, 2, 6, 14, 30, and 62 seconds, and then once a minute.
        assertThat(requests.get()).isEqualTo(14);
    }

    @Test
    void shouldUseAnAnswerThatWasRequestedAhead() throws IOException {
        AgentPools agent = agent(true);
        answer = report(100, 7);
        agent.ask();
        agent.ask();
        answer = report(130, 9);
        assertThat(cpuNanos(agent)).isEqualTo(100);
        assertThat(requests.get()).isEqualTo(1);
        assertThat(cpuNanos(agent)).isEqualTo(30);
        fails = true;
        agent.ask();
        assertThat(cpuNanos(agent)).isEqualTo(-1);
        agent.ask();
        assertThat(requests.get()).as("too early to ask again").isEqualTo(3);
    }
}
