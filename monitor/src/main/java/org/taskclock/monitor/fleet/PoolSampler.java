// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.taskclock.CpuTime;
import org.taskclock.ProcStat;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.proc.ProcText;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Measures the CPU time of the thread pools of one JVM, at a low cost if most threads are idle. Call {@link #sample}
 * about once a second. It reads the clock of the process and the threads that run often. It reads all threads only if
 * these do not explain the CPU time of the process, or if the number of threads has changed. {@link #read} reads all
 * threads and returns what each pool used since its previous call.
 *
 * <p>No CPU time is lost: the CPU time of threads that could not be read is in the pool {@link EndedPool#UNKNOWN}.
 * Samples between two calls of {@link #read} reduce this part, because the CPU time of a thread that ends is known up
 * to its last sample.
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
    private final boolean inNamespace;
    private final boolean precise;
    private final PoolNames names;
    /** Null if the JVM may not be attached to. */
    private final AgentPools agent;

    /** For {@link #readRecent}, whose requests to the agent are independent of {@link #read}. Null without an agent. */
    private final AgentPools recentAgent;

    private final Map<Integer, PooledThread> threads = new HashMap<>();
    private long readings;
    private int links;

    /** The process's CPU time when counting began. */
    private final CpuTime start;

    private CpuTime process;
    private long sampledNanos = -1;

    /** CPU time of the process that belongs to no live thread: excluded, or already counted for ended threads. */
    private long accountedNanos;

    /** The part of it that has not been returned by any reading. */
    private long endedNanos;

    private long takenUserNanos;

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
        var counters = leader.read();
        // The file has only zeros if the kernel does not maintain it.
        precise = counters != null && ProcText.number(counters) > 0;
        AttachClient jvm = AttachClient.of(pid);
        inNamespace = jvm.innerPid() != pid;
        Executor worker = shared.newWorker();
        names = new PoolNames(pid, feature, jvm, worker);
        agent = worker == null ? null : new AgentPools(pid, jvm, fromStart, worker);
        recentAgent = worker == null ? null : new AgentPools(pid, jvm, fromStart, worker);
        process = processTime();
        start = fromStart ? new CpuTime(0, 0, 0) : process;
        readAll(fromStart);
        names.update(threads.values(), System.nanoTime());
    }

    public int pid() {
        return pid;
    }

    /** Returns the number of threads in the last reading. */
    public int threads() {
        return threads.size();
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
        for (PooledThread thread : threads.values()) if (thread.isActive() && !thread.sample(precise)) hasLost = true;
        long unexplained = now - accountedNanos - liveNanos();
        boolean isIncomplete = hasLost
                || links() != links
                || unexplained > Math.max(UNEXPLAINED_NANOS, UNEXPLAINED_SHARE * (now - readNanos));
        if (!isIncomplete || !shared.readings.isAvailable(System.nanoTime())) return;
        long begin = TaskClock.cpuNanos();
        readAll(true);
        names.update(threads.values(), System.nanoTime());
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
            names.update(threads.values(), begin);
            readAt = begin;
        } else {
            sample();
        }
        if (names.isAwaited()) return new PoolReading(List.of(), new CpuTime(0, 0, 0));
        process = later(process, processTime());
        PoolReading reading = take();
        return agent == null ? reading : agent.addTo(reading, threads.values(), agentUntil);
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
        if (readsAll || names.hasNewNames()) names.update(threads.values(), begin);
        if (names.isAwaited()) return new PoolReading(List.of(), new CpuTime(0, 0, 0));
        process = later(process, processTime());
        PoolReading reading = take();
        if (recentAgent != null) reading = recentAgent.addEarlierTo(reading, threads.values());
        return new PoolReading(reading.pools(), Map.of(), reading.process(), takeThreads());
    }

    private List<ThreadUsage> takeThreads() {
        List<ThreadUsage> usages = new ArrayList<>(endedThreads);
        endedThreads.clear();
        for (PooledThread thread : threads.values()) if (thread.hasRecent()) usages.add(thread.takeRecent(pid));
        return usages;
    }

    /** Returns the usage since the last reading of a process that has exited, as far as it was sampled. */
    public PoolReading end() {
        for (PooledThread thread : threads.values()) end(thread);
        threads.clear();
        // The threads were read after the process, so they may have used more.
        long more = Math.max(0, Math.max(sampledNanos, accountedNanos) - process.cpuNanos());
        process = new CpuTime(process.cpuNanos() + more, process.userNanos() + more, process.systemNanos());
        addEnded(process.cpuNanos(), 0);
        leader.close();
        PoolReading reading = take();
        return new PoolReading(reading.pools(), Map.of(), reading.process(), takeThreads());
    }

    private PoolReading take() {
        for (PooledThread thread : threads.values()) {
            count(thread, thread.hasUncounted() && thread.needsDetails(readings) ? thread.readStat() : null);
            thread.pool.addThread();
        }
        List<ThreadUsage> usages = names.take();
        CpuTime counted = new CpuTime(
                process.cpuNanos() - start.cpuNanos(),
                process.userNanos() - start.userNanos(),
                process.systemNanos() - start.systemNanos());
        for (ThreadUsage usage : usages) takenUserNanos += usage.userNanos();
        if (endedNanos > 0) {
            long user = Math.max(0, Math.min(endedNanos, counted.userNanos() - takenUserNanos));
            SampledPool pool = names.pool(new EndedPool.Key(EndedPool.UNKNOWN, ThreadKind.NATIVE));
            pool.add(endedNanos, user, false);
            usages.add(pool.take(pid));
            takenUserNanos += user;
            endedNanos = 0;
        }
        return new PoolReading(usages, counted);
    }

    private void count(PooledThread thread, ProcStat stat) {
        // The thread's new name may have changed its pool.
        names.assign(thread);
        if (thread.hasUncounted()) thread.count(stat, readings);
    }

    private void readAll(boolean countsNew) throws MonitorException {
        readings++;
        links = links();
        String[] found = tasks.list();
        if (found == null || found.length == 0) throw ended();
        if (found.length == 1 && isZombie()) throw ended();
        long begin = System.nanoTime();
        long before = processNanos();
        for (String text : found) {
            int tid = Integer.parseInt(text);
            PooledThread thread = threads.get(tid);
            if (thread != null && !thread.sample(precise)) {
                threads.remove(tid);
                end(thread);
                thread = null;
            }
            if (thread == null) {
                thread = new PooledThread(pid, tid, shared);
                if (!thread.start(countsNew, inNamespace, precise, readings)) {
                    thread.close();
                    continue;
                }
                threads.put(tid, thread);
            }
            thread.lastSeen = readings;
        }
        for (Iterator<PooledThread> all = threads.values().iterator(); all.hasNext(); ) {
            PooledThread thread = all.next();
            if (thread.lastSeen == readings) continue;
            all.remove();
            end(thread);
        }
        sampledNanos = processNanos();
        readNanos = sampledNanos;
        if (sampledNanos < before) throw ended();
        // Threads run while they are read. They are read one after the other, so half of that time is the error.
        long error = shared.machine.processors() * (System.nanoTime() - begin) / 2;
        long middle = before + (sampledNanos - before) / 2;
        if (readings == 1 && !countsNew) accountedNanos = middle - liveNanos();
        else addEnded(middle, error + MILLISECOND);
    }

    private void end(PooledThread thread) {
        thread.close();
        count(thread, null);
        if (keepsThreads && thread.hasRecent()) endedThreads.add(thread.takeRecent(pid));
        accountedNanos += thread.totalNanos;
    }

    /** Adds the CPU time of the process that belongs to no thread, unless it is within the error. */
    private void addEnded(long processNanos, long error) {
        long ended = processNanos - accountedNanos - liveNanos();
        if (ended <= error) return;
        accountedNanos += ended;
        endedNanos += ended;
    }

    private long liveNanos() {
        long sum = 0;
        for (PooledThread thread : threads.values()) sum += thread.totalNanos;
        return sum;
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
        int length = shared.readOnce("/proc/" + pid + "/stat");
        if (length <= 0) throw ended();
        ProcStat stat = ProcStat.parse(shared.text, length);
        return new CpuTime(stat.userNanos() + stat.systemNanos(), stat.userNanos(), stat.systemNanos());
    }

    /** Neither part decreases, although the kernel recomputes the split each time. */
    private static CpuTime later(CpuTime before, CpuTime now) {
        long cpu = Math.max(before.cpuNanos(), now.cpuNanos());
        long user = Math.max(before.userNanos(), Math.min(now.userNanos(), cpu - before.systemNanos()));
        return new CpuTime(cpu, user, cpu - user);
    }

    private boolean isZombie() {
        int length = shared.readOnce("/proc/" + pid + "/stat");
        if (length <= 0) return true;
        char state = ProcStat.parse(shared.text, length).state();
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
        for (PooledThread thread : threads.values()) thread.close();
        leader.close();
    }
}
