// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.taskclock.AccountUsage;
import org.taskclock.CpuTime;
import org.taskclock.ProcStat;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadSampler;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.sampling.ProcThread;
import org.taskclock.monitor.sampling.ProcThreads;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Measures the CPU time of the thread pools of one JVM, at a low cost if most threads are idle. Call {@link #sample}
 * about once a second. It reads the clock of the process and the threads that run often. It reads all threads only if
 * these do not explain the CPU time of the process, or if the number of threads has changed. {@link #read} reads all
 * threads and returns what each pool used since its previous call.
 *
 * <p>No CPU time is lost: the CPU time of threads that could not be read is in the pool {@link PoolKey#ENDED}. Samples
 * between two calls of {@link #read} reduce this part, because the CPU time of a thread that ends is known up to its
 * last sample.
 */
public final class PoolSampler implements AutoCloseable {
    private static final long MILLISECOND = 1_000_000;

    /** All threads are read if more than this time, and more than this share of the CPU time, is unexplained. */
    private static final long UNEXPLAINED_NANOS = 10 * MILLISECOND;

    private static final double UNEXPLAINED_SHARE = 0.02;

    /** If another reader calls {@link #read} sooner than this, only the threads that run often are read. */
    private static final long MIN_READING_NANOS = 1_000 * MILLISECOND;

    /** The number of hard links of /proc/PID/task is the number of threads plus two. */
    private static final String LINKS = "unix:nlink";

    private final PoolSamplers shared;
    private final int pid;
    private final ProcessClock clock;
    private final ProcFile leader;
    private final File tasks;
    private final Path taskPath;
    private final ProcThreads source;
    private final ThreadSampler<ProcThread> sampler;
    private final PoolNames names;
    /** Null if the JVM may not be attached to. */
    private final AgentPools agent;

    /** For {@link #readRecent}, whose requests to the agent are independent of {@link #read}. Null without an agent. */
    private final AgentPools recentAgent;

    private int links;

    /** The process's CPU time when counting began. */
    private final CpuTime start;

    private CpuTime process;
    private long sampledNanos = -1;

    /** Ended threads that {@link #readRecent} has not returned yet. */
    private final List<ThreadUsage> endedThreads = new ArrayList<>();

    private boolean keepsThreads;

    /** CPU time of the process when all threads were read. */
    private long readNanos;

    /** When {@link #read} last read all threads; 0 if it has not. */
    private long readAt;

    PoolSampler(PoolSamplers shared, int pid, boolean fromStart, int feature) throws MonitorException {
        this.shared = shared;
        this.pid = pid;
        clock = ProcessClock.of(pid);
        leader = new ProcFile("/proc/" + pid + "/task/" + pid + "/schedstat", shared.files);
        tasks = new File("/proc/" + pid + "/task");
        taskPath = tasks.toPath();
        source = new ProcThreads(pid, shared.files, shared.text, false);
        sampler = source.sampler(this::end);
        AttachClient jvm = AttachClient.of(pid);
        Executor worker = shared.newWorker();
        names = new PoolNames(pid, feature, jvm, worker, sampler);
        agent = worker == null ? null : new AgentPools(pid, jvm, fromStart, worker, 0);
        recentAgent = worker == null ? null : new AgentPools(pid, jvm, fromStart, worker, shared.accountsNanos);
        process = processTime();
        start = fromStart ? new CpuTime(0, 0, 0) : process;
        readAll(fromStart);
        names.update(System.nanoTime());
    }

    public int pid() {
        return pid;
    }

    /** Returns the number of threads in the last reading. */
    public int threads() {
        return sampler.threads().size();
    }

    /** Returns why thread names cannot be requested from the JVM; null if they can, or are not requested. */
    public String attachFailure() {
        return names.failure();
    }

    /**
     * Reads the threads that run often, and the others if necessary.
     *
     * @throws MonitorException if the process has ended
     */
    public void sample() throws MonitorException {
        long now = processNanos();
        // Threads count as idle until they run, so there is nothing to read.
        if (now == sampledNanos) return;
        sampledNanos = now;
        boolean hasLost = false;
        for (ProcThread thread : sampler.threads()) if (thread.isActive() && !sampler.readAgain(thread)) hasLost = true;
        long unexplained = sampler.unaccountedNanos(now);
        boolean isIncomplete = hasLost
                || links() != links
                || unexplained > Math.max(UNEXPLAINED_NANOS, UNEXPLAINED_SHARE * (now - readNanos));
        if (!isIncomplete || !shared.readings.isAvailable(System.nanoTime())) return;
        long begin = TaskClock.cpuNanos();
        readAll(true);
        names.update(System.nanoTime());
        if (begin >= 0) shared.readings.charge(TaskClock.cpuNanos() - begin);
    }

    /**
     * Returns why the report of the agent, which the program can forge, was not used since the last call; null if it
     * was, or if there is none.
     */
    public String takeAgentProblem() {
        if (agent == null) return null;
        String problem = agent.takeProblem();
        String recentProblem = recentAgent.takeProblem();
        return problem == null ? recentProblem : problem;
    }

    /** Returns the states of virtual threads as of the last report of the agent. */
    VirtualThreadCounts virtualThreads() {
        if (agent == null) return VirtualThreadCounts.UNKNOWN;
        VirtualThreadCounts recent = recentAgent.virtualThreads();
        return recent.isKnown() ? recent : agent.virtualThreads();
    }

    /** Returns the named accounts as of the last report of the agent. */
    List<AccountUsage> accounts() {
        return agent == null ? List.of() : agent.accounts();
    }

    /** Asks the agent, if there is one, so that it answers while others are asked. */
    public void askAgent() {
        if (agent != null && !names.isAwaited()) agent.ask();
    }

    /** Reads like {@link #read(long)}, and waits until the agent has answered. */
    public PoolReading read() throws MonitorException {
        return read(System.nanoTime() + AgentPools.MAX_NANOS);
    }

    /**
     * Reads all threads and returns the usage since the previous call; nothing while the first thread names are
     * pending.
     *
     * @param agentUntil the System.nanoTime until which to wait for the agent; a later answer is part of a later
     *     reading
     * @throws MonitorException if the process has ended; {@link #end} then returns what was used
     */
    public PoolReading read(long agentUntil) throws MonitorException {
        long begin = System.nanoTime();
        if (readAt == 0 || begin - readAt >= MIN_READING_NANOS) {
            readAll(true);
            names.update(begin);
            readAt = begin;
        } else {
            sample();
        }
        if (names.isAwaited()) return new PoolReading(List.of(), new CpuTime(0, 0, 0));
        process = later(process, processTime());
        PoolReading reading = take();
        return agent == null ? reading : agent.addTo(reading, sampler.threads(), agentUntil);
    }

    /**
     * Samples like {@link #sample}, and returns the usage of pools and threads since the previous reading, as far as it
     * was read. The usage of threads that are not read, at most the amount that makes {@link #sample} read all threads,
     * is part of a later reading. Pools of virtual threads lag by about a second. The result does not contain yields.
     *
     * @param readsAll whether to read all threads
     * @throws MonitorException if the process has ended; {@link #end} then returns what was used
     */
    public PoolReading readRecent(boolean readsAll) throws MonitorException {
        long begin = System.nanoTime();
        keepsThreads = true;
        if (readsAll) readAll(true);
        else sample();
        if (readsAll || names.hasNewNames()) names.update(begin);
        if (names.isAwaited()) return new PoolReading(List.of(), new CpuTime(0, 0, 0));
        process = later(process, processTime());
        PoolReading reading = take();
        if (recentAgent != null) reading = recentAgent.addEarlierTo(reading, sampler.threads());
        return new PoolReading(reading.pools(), Map.of(), reading.process(), takeThreads());
    }

    private List<ThreadUsage> takeThreads() {
        List<ThreadUsage> usages = new ArrayList<>(endedThreads);
        endedThreads.clear();
        for (ProcThread thread : sampler.threads()) if (thread.usage.cpuNanos > 0) usages.add(thread.takeUsage(pid));
        return usages;
    }

    /** Returns the usage since the last reading of a process that has exited, as far as it was sampled. */
    public PoolReading end() {
        sampler.endAll();
        // The threads were read after the process, so they may have used more.
        long more = Math.max(0, Math.max(sampledNanos, sampler.accountedNanos()) - process.cpuNanos());
        process = new CpuTime(process.cpuNanos() + more, process.userNanos() + more, process.systemNanos());
        sampler.countEnded(process.cpuNanos(), 0);
        leader.close();
        PoolReading reading = take();
        return new PoolReading(reading.pools(), Map.of(), reading.process(), takeThreads());
    }

    private PoolReading take() {
        if (agent != null) {
            Set<Long> recent = recentAgent.carriers();
            names.learnCarriers(recent.isEmpty() ? agent.carriers() : recent);
        }
        sampler.readDetails(Integer.MAX_VALUE);
        for (ProcThread thread : sampler.threads()) count(thread);
        CpuTime counted = new CpuTime(
                process.cpuNanos() - start.cpuNanos(),
                process.userNanos() - start.userNanos(),
                process.systemNanos() - start.systemNanos());
        List<ThreadUsage> usages = new ArrayList<>();
        Counters ended = sampler.takePools(
                counted.userNanos(),
                pool -> usages.add(ThreadUsage.ofGroup(pid, pool.key(), pool.threads())
                        .truncated(pool.isGuessed())
                        .counters(pool.sum())
                        .build()));
        if (ended.cpuNanos > 0)
            usages.add(
                    ThreadUsage.ofGroup(pid, PoolKey.ENDED, 0).counters(ended).build());
        return new PoolReading(usages, counted);
    }

    private void count(ProcThread thread) {
        // The thread's new name may have changed its pool.
        if (names.assign(thread) && thread.hasUncounted()) sampler.count(thread, Long.MAX_VALUE);
    }

    private void readAll(boolean countsNew) throws MonitorException {
        links = links();
        String[] found = tasks.list();
        if (found == null || found.length == 0) throw ended();
        if (found.length == 1 && isZombie()) throw ended();
        long begin = System.nanoTime();
        long before = processNanos();
        long[] tids = new long[found.length];
        for (int i = 0; i < tids.length; i++) tids[i] = Long.parseLong(found[i]);
        boolean isFirst = sampler.threads().isEmpty();
        sampler.read(countsNew, tids);
        sampledNanos = processNanos();
        readNanos = sampledNanos;
        if (sampledNanos < before) throw ended();
        // Threads run while they are read. They are read one after the other, so half of that time is the error.
        long error = shared.machine.processors() * (System.nanoTime() - begin) / 2;
        long middle = before + (sampledNanos - before) / 2;
        if (isFirst && !countsNew) sampler.excludeEnded(middle);
        else sampler.countEnded(middle, error + MILLISECOND);
    }

    private void end(ProcThread thread) {
        count(thread);
        if (keepsThreads && thread.usage.cpuNanos > 0) endedThreads.add(thread.takeUsage(pid));
    }

    /** Returns the CPU time of the process, and throws if it has ended. */
    private long processNanos() throws MonitorException {
        // The file of the main thread can be read as long as the process exists. The id may already be reused.
        if (leader.read() == null) throw ended();
        long now = clock.cpuNanos();
        if (now >= 0) return now;
        return processTime().cpuNanos();
    }

    private CpuTime processTime() throws MonitorException {
        CpuTime time = clock.now();
        if (time.isKnown()) return time;
        ByteBuffer text = source.readOnce("/proc/" + pid + "/stat");
        if (text == null) throw ended();
        ProcStat stat = ProcStat.parse(shared.text, text.limit());
        return new CpuTime(stat.userNanos() + stat.systemNanos(), stat.userNanos(), stat.systemNanos());
    }

    /** Neither part decreases, although the kernel recomputes the split each time. */
    private static CpuTime later(CpuTime before, CpuTime now) {
        long cpu = Math.max(before.cpuNanos(), now.cpuNanos());
        long user = Math.max(before.userNanos(), Math.min(now.userNanos(), cpu - before.systemNanos()));
        return new CpuTime(cpu, user, cpu - user);
    }

    private boolean isZombie() {
        ByteBuffer text = source.readOnce("/proc/" + pid + "/stat");
        if (text == null) return true;
        char state = ProcStat.parse(shared.text, text.limit()).state();
        return state == 'Z' || state == 'X';
    }

    private int links() throws MonitorException {
        try {
            return (Integer) Files.getAttribute(taskPath, LINKS);
        } catch (IOException e) {
            throw ended();
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            return 0; // changes are then detected by their CPU time
        }
    }

    private MonitorException ended() {
        return new MonitorException(MonitorException.Reason.GONE, "process " + pid + " has ended");
    }

    @Override
    public void close() {
        sampler.close();
        leader.close();
    }
}
