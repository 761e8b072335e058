// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.taskclock.monitor.attach.AgentClient;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.attach.ThreadDumps;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.Observation;
import org.taskclock.monitor.finding.StackSamples;
import org.taskclock.monitor.proc.HeapMonitor;
import org.taskclock.monitor.proc.HostCpu;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.proc.ProcText;
import org.taskclock.monitor.proc.ProcessReader;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Measures the threads of one JVM: {@link #next} returns the interval since the previous call. It reads /proc, which
 * does not affect the JVM, and attaches to it, if allowed, for the names of new threads. Confined to one thread.
 */
public final class Sampler implements AutoCloseable {
    /** The age up to which a dump that was taken for another purpose is used for a stack. */
    private static final long RECENT_NANOS = 100_000_000;

    private final int pid;
    private final String name;
    private final boolean precise;
    private final byte[] text = new byte[16_384];
    private final ProcFile.Budget budget = new ProcFile.Budget(HostCpu.filesForThreads());
    private final ProcessReader reader;
    private final ThreadDumps dumps;
    private final JavaThreadNames names;
    private final StackSamples stacks;
    private final AgentClient agent;
    private final JavaStatusSampler states;
    private final HeapMonitor heap;
    private final Map<Integer, TrackedThread> threads = new HashMap<>();
    private final EndedThreads ended;

    // Null before the first reading.
    private ProcessReader.Reading last;
    private CumulativeCounter process;
    private CumulativeCounter processUser;
    private long readings;

    /** The duration of the reading that starts the first interval. */
    private long firstReadingNanos;

    private Sampler(long pid, boolean attach) throws MonitorException {
        JvmProcesses.check(pid);
        this.pid = (int) pid;
        name = JvmProcesses.nameOf(pid);
        reader = new ProcessReader(pid, budget, text);
        ProcFile schedstat = new ProcFile("/proc/" + pid + "/task/" + pid + "/schedstat", budget);
        var counters = schedstat.read();
        // The file has only zeros if the kernel does not maintain it.
        precise = counters != null && ProcText.number(counters) > 0;
        schedstat.close();
        AttachClient jvm = AttachClient.of(pid);
        dumps = new ThreadDumps(jvm, attach);
        names = new JavaThreadNames(this.pid, dumps);
        stacks = new StackSamples(dumps);
        agent = new AgentClient(this.pid, jvm, attach);
        states = new JavaStatusSampler(dumps);
        heap = new HeapMonitor(pid);
        ended = new EndedThreads(this.pid);
    }

    /** Returns a sampler that attaches to the JVM for the names of its threads. */
    public static Sampler of(long pid) throws MonitorException {
        return new Sampler(pid, true);
    }

    /** Returns a sampler that does not affect the JVM. */
    public static Sampler withoutAttach(long pid) throws MonitorException {
        return new Sampler(pid, false);
    }

    public long pid() {
        return pid;
    }

    /** Returns the program's main class or jar. */
    public String name() {
        return name;
    }

    /**
     * Takes a reading.
     *
     * @return the interval since the previous reading; the first interval has no threads
     * @throws MonitorException if the JVM has exited
     */
    public Interval next() throws MonitorException {
        try {
            return last == null ? first() : advance();
        } finally {
            budget.restoreInterrupt();
        }
    }

    private Interval first() throws MonitorException {
        long start = System.nanoTime();
        List<String> notes = new ArrayList<>();
        // Listed before the dump, which then tells which of them are not Java threads.
        Map<Integer, TrackedThread> listed = new HashMap<>();
        for (int tid : tids(new ArrayList<>())) listed.put(tid, track(tid));
        names.takeFirstDump(notes);
        agent.advance(1);
        for (int tid : tids(notes)) {
            TrackedThread thread = listed.getOrDefault(tid, track(tid));
            if (thread.start(false, 0)) threads.put(tid, thread);
        }
        // Read again, because the first reading is slow: it opens the files and runs code for the first time.
        long before = reader.cpuNanos();
        long secondStart = System.nanoTime();
        threads.values().removeIf(thread -> {
            if (thread.advance(Long.MAX_VALUE)) return false;
            thread.close();
            return true;
        });
        threads.values().forEach(TrackedThread::beginWatching);
        last = reader.read(secondStart);
        firstReadingNanos = System.nanoTime() - secondStart;
        process = new CumulativeCounter(last.process());
        processUser = new CumulativeCounter(last.processUser());
        ended.start(midpoint(before, last.process()), liveNanos());
        return new Interval(
                Instant.now(),
                Math.max(1, last.nanos() - start),
                pid,
                name,
                "proc",
                List.of(),
                new ProcessUsage(0, 0, -1, reader.cpuLimit(), -1, 0, reader.processors(), 0),
                List.of(),
                notes);
    }

    private Interval advance() throws MonitorException {
        readings++;
        heap.refresh();
        // Before the threads are read, because a dump takes time.
        states.sample(heap.contendedLockAttempts());
        char processState = reader.state();
        List<String> notes = new ArrayList<>();
        int[] tids = tids(notes);
        long before = reader.cpuNanos();
        long start = System.nanoTime();
        // Threads are read in the same order each time, so the interval of each is about as long as this one.
        long intervalNanos = Math.max(1, start - last.nanos());
        HeapUsage heapUsage = heap.next(intervalNanos);
        readThreads(tids, intervalNanos);
        ProcessReader.Reading now = reader.read(start);
        long maxNanos = reader.processors() * intervalNanos;
        long processNanos = process.advance(now.process(), maxNanos);
        long processUserNanos = Math.min(processNanos, processUser.advance(now.processUser(), processNanos));

        names.resolve(threads.values(), notes);
        if (!precise) notes.add("this kernel reports the CPU time of threads only in steps of 10 ms");
        List<ThreadUsage> usages = new ArrayList<>(threads.size() + 1);
        long sum = 0;
        long sumUser = 0;
        boolean stopped = processState == 'T' || processState == 't';
        for (TrackedThread thread : threads.values()) {
            usages.add(thread.usage(pid, thread.tid == pid, stopped));
            sum += thread.cpuNanos;
            sumUser += thread.userNanos;
        }
        states.apply(usages, intervalNanos);
        long readingNanos = firstReadingNanos + System.nanoTime() - start;
        long endedNanos =
                ended.advance(midpoint(before, now.process()), liveNanos(), reader.processors() * readingNanos / 2);
        if (endedNanos > 0) {
            endedNanos = Math.min(endedNanos, maxNanos);
            usages.add(ended.usage(endedNanos, Math.max(0, Math.min(endedNanos, processUserNanos - sumUser))));
            sum += endedNanos;
        }
        agent.advance(intervalNanos);
        usages.addAll(agent.usages());
        if (agent.problem() != null) notes.add(agent.problem());
        usages.sort(Comparator.comparingLong(ThreadUsage::cpuNanos).reversed());
        long machineNanos =
                Math.min(difference(now.machine().cpuNanos(), last.machine().cpuNanos()), maxNanos);
        ProcessUsage totals = new ProcessUsage(
                Math.min(Math.max(processNanos, sum), maxNanos),
                Math.min(Math.max(processUserNanos, 0), processNanos),
                difference(now.container().cpuNanos(), last.container().cpuNanos()),
                reader.cpuLimit(),
                now.container().throttledNanosSince(last.container(), intervalNanos),
                machineNanos,
                reader.processors(),
                now.own() - last.own(),
                Math.min(difference(now.machine().userNanos(), last.machine().userNanos()), machineNanos),
                heapUsage);
        last = now;
        Instant end = Instant.now();
        List<Finding> findings = Observation.ofThreads(usages, totals, intervalNanos, stacks, agent, states.convoys())
                .findings();
        String source = agent.isPresent() ? "agent" : "proc";
        return new Interval(end, intervalNanos, pid, name, source, usages, totals, findings, notes, ended.pools());
    }

    private void readThreads(int[] tids, long intervalNanos) {
        for (int tid : tids) {
            TrackedThread thread = threads.get(tid);
            boolean alive = thread != null && thread.advance(intervalNanos);
            if (!alive) {
                if (thread != null) {
                    threads.remove(tid);
                    end(thread);
                }
                thread = track(tid);
                if (!thread.start(true, intervalNanos)) continue;
                threads.put(tid, thread);
            }
            thread.lastSeen = readings;
        }
        for (Iterator<TrackedThread> all = threads.values().iterator(); all.hasNext(); ) {
            TrackedThread thread = all.next();
            if (thread.lastSeen == readings) continue;
            all.remove();
            end(thread);
        }
    }

    private TrackedThread track(int tid) {
        return new TrackedThread(pid, tid, precise, budget, text);
    }

    private void end(TrackedThread thread) {
        thread.close();
        ended.add(thread);
    }

    private static long midpoint(long a, long b) {
        return a + (b - a) / 2;
    }

    private long liveNanos() {
        long sum = 0;
        for (TrackedThread thread : threads.values()) sum += thread.totalNanos;
        return sum;
    }

    private static long difference(long now, long before) {
        return now < 0 || before < 0 ? -1 : Math.max(0, now - before);
    }

    /** Returns the ids of all threads, or else of the known ones. */
    private int[] tids(List<String> notes) throws MonitorException {
        int[] tids = reader.tids();
        if (tids != null) return tids;
        notes.add("new threads are missing, because too many files are open: raise the limit with ulimit -n");
        return threads.keySet().stream().mapToInt(Integer::intValue).toArray();
    }

    /**
     * Sets whether {@link ThreadUsage#java} is needed in each interval. If so, thread dumps are taken for it, as often
     * as their cost to the JVM allows. Otherwise, it is filled in only from dumps that are taken for other reasons.
     */
    public void watchJavaStatus(boolean on) {
        states.watch(on);
    }

    /** Returns whether attaching is allowed and worked the last time. May be called on any thread. */
    public boolean canAttach() {
        return dumps.canAttach();
    }

    /** Reads the agent's report from the next interval on, because the agent was just loaded. */
    public void agentLoaded() {
        agent.readSoon();
    }

    /** Returns the number of Thread.yield calls in the last interval; -1 if no agent counts them. */
    public long yields() {
        return agent.yields();
    }

    /** Returns the yields per second of a thread, or of the virtual threads that it carried; 0 if unknown. */
    public double yieldsPerSecond(ThreadUsage thread) {
        return agent.yieldsPerSecond(thread.tid());
    }

    /**
     * Returns the current stack of a thread, as lines of text. For a carrier, this includes the stack of the virtual
     * thread that it carries, if the JVM prints that.
     *
     * @param tid as in {@link ThreadUsage#tid}
     * @throws IOException if there is no stack; the message is the reason
     */
    public String stacks(int tid) throws IOException {
        ThreadDump newest = dumps.newest();
        boolean recent = newest != null && System.nanoTime() - newest.takenAt() < RECENT_NANOS;
        ThreadDump.Entry found = (recent ? newest : dumps.dump()).of(tid);
        if (found == null) throw new IOException("thread " + tid + " has no Java stack or has ended");
        return found.text();
    }

    @Override
    public void close() {
        for (TrackedThread thread : threads.values()) thread.close();
        reader.close();
        heap.close();
    }
}
