// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.CumulativeCounters;
import org.taskclock.metrics.ThreadSampler;
import org.taskclock.monitor.attach.AgentClient;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.attach.ThreadDumps;
import org.taskclock.monitor.finding.CommonPool;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingHold;
import org.taskclock.monitor.finding.Observation;
import org.taskclock.monitor.finding.StackSamples;
import org.taskclock.monitor.finding.ThreadHistory;
import org.taskclock.monitor.proc.HeapMonitor;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.proc.ProcessReader;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Measures the threads of one JVM: {@link #next} returns the interval since the previous call. It reads /proc, which
 * does not affect the JVM, and attaches to it, if allowed, for the names of new threads. Confined to one thread.
 */
public final class Sampler implements AutoCloseable {
    /** The age up to which a dump that was taken for another purpose is used for a stack. */
    private static final long RECENT_NANOS = 100_000_000;

    private static final int TEXT_BYTES = 16_384;
    private static final long MILLISECOND = 1_000_000;

    private final int pid;
    private final String name;
    private final ProcFile.Budget budget = new ProcFile.Budget();
    private final ProcThreads source;
    private final ThreadSampler<ProcThread> sampler;
    private final DumpedNames names;
    private final ProcessReader reader;
    private final ThreadDumps dumps;
    private final StackSamples stacks;
    private final AgentClient agent;
    private final JavaStatusSampler states;
    private final HeapMonitor heap;
    private final EndedThreads ended;
    private final FindingHold hold = new FindingHold();
    private final ThreadHistory history = new ThreadHistory();
    private JvmCounters counters = JvmCounters.UNKNOWN;

    /** The last dump that was used; null if there is none. */
    private ThreadDump resolved;

    // Null before the first reading.
    private ProcessReader.Reading last;
    private final CumulativeCounters process = new CumulativeCounters();
    private long firstUserNanos;

    /** The duration of the reading that starts the first interval. */
    private long firstReadingNanos;

    private Sampler(long pid, boolean attach) throws MonitorException {
        JvmProcesses.check(pid);
        this.pid = (int) pid;
        name = JvmProcesses.nameOf(pid);
        byte[] text = new byte[TEXT_BYTES];
        reader = new ProcessReader(pid, budget, text);
        source = new ProcThreads(this.pid, budget, text, true);
        sampler = source.sampler(this::end);
        names = new DumpedNames(this.pid, JvmProcesses.featureOf(pid), sampler);
        AttachClient jvm = AttachClient.of(pid);
        dumps = new ThreadDumps(jvm, attach);
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
        // Before the dump, which then tells which of them are not Java threads. Read again afterward, because the first
        // reading is slow: it opens the files and runs code for the first time.
        sampler.read(false, tids(new ArrayList<>()));
        dumps.tryDump();
        addNote(notes);
        agent.advance(1);
        long[] tids = tids(notes);
        long before = reader.cpuNanos();
        long secondStart = System.nanoTime();
        sampler.read(false, tids);
        sampler.readDetails(thread -> false);
        sampler.threads().forEach(ProcThread::exclude);
        last = reader.read(secondStart);
        firstReadingNanos = System.nanoTime() - secondStart;
        resolve();
        setProcess(last);
        process.exclude();
        firstUserNanos = last.processUser();
        ended.start(sampler.excludeEnded(midpoint(before, last.process())));
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
        heap.refresh();
        // Before the threads are read, because a dump takes time.
        states.sample(heap.contendedLockAttempts(), commonPoolParallelism());
        char processState = reader.state();
        List<String> notes = new ArrayList<>();
        long[] tids = tids(notes);
        long before = reader.cpuNanos();
        long start = System.nanoTime();
        // Threads are read in the same order each time, so the interval of each is about as long as this one.
        long intervalNanos = Math.max(1, start - last.nanos());
        HeapUsage heapUsage = heap.next(intervalNanos);
        sampler.read(true, tids);
        sampler.readDetails(ProcThread::wasRunnable);
        ProcessReader.Reading now = reader.read(start);
        long maxNanos = reader.processors() * intervalNanos;
        Counters used = new Counters();
        setProcess(now);
        process.advance(maxNanos, used);

        boolean isMissing = resolve();
        if (isMissing && dumps.mayDump()) dumps.dumpInBackground();
        addNote(notes);
        if (!source.precise) notes.add("this kernel reports the CPU time of threads only in steps of 10 ms");
        List<ThreadUsage> usages = new ArrayList<>(sampler.threads().size() + 1);
        long sum = 0;
        boolean stopped = processState == 'T' || processState == 't';
        for (ProcThread thread : sampler.threads()) {
            sampler.count(thread, intervalNanos);
            ThreadUsage usage = thread.takeUsage(pid);
            usages.add(stopped ? usage.change().state('T').build() : usage);
            sum += usage.cpuNanos();
        }
        states.apply(usages, intervalNanos);
        long readingNanos = firstReadingNanos + System.nanoTime() - start;
        sampler.countEnded(midpoint(before, now.process()), reader.processors() * readingNanos / 2 + MILLISECOND);
        Counters endedUsage = sampler.takePools(now.processUser() - firstUserNanos, pool -> {});
        if (endedUsage.cpuNanos > 0) {
            endedUsage.cpuNanos = Math.min(endedUsage.cpuNanos, maxNanos);
            endedUsage.userNanos = Math.min(endedUsage.userNanos, endedUsage.cpuNanos);
            usages.add(ended.usage(endedUsage));
            sum += endedUsage.cpuNanos;
        }
        agent.advance(intervalNanos);
        usages.addAll(agent.usages());
        if (agent.problem() != null) notes.add(agent.problem());
        usages.sort(Comparator.comparingLong(ThreadUsage::cpuNanos).reversed());
        long machineNanos =
                Math.min(difference(now.machine().cpuNanos(), last.machine().cpuNanos()), maxNanos);
        ProcessUsage totals = new ProcessUsage(
                Math.min(Math.max(used.cpuNanos, sum), maxNanos),
                used.userNanos,
                difference(now.container().cpuNanos(), last.container().cpuNanos()),
                reader.cpuLimit(),
                now.container().throttledNanosSince(last.container(), intervalNanos),
                machineNanos,
                reader.processors(),
                now.own() - last.own(),
                Math.min(difference(now.machine().userNanos(), last.machine().userNanos()), machineNanos),
                heapUsage,
                agent.virtualThreads());
        last = now;
        Instant end = Instant.now();
        JvmCounters counted = heap.counters().since(counters);
        counters = heap.counters();
        history.add(usages, counted.startedThreads(), intervalNanos, start);
        Observation.Details details = new Observation.Details(totals, counted, history, states.commonPool());
        List<Finding> found = Observation.ofThreads(usages, details, intervalNanos, stacks, agent, states.convoys())
                .findings();
        List<Finding> findings = hold.add(found, end, intervalNanos);
        String source = agent.isPresent() ? "agent" : "proc";
        return new Interval(
                end,
                intervalNanos,
                pid,
                name,
                source,
                usages,
                totals,
                findings,
                notes,
                ended.pools(),
                agent.accounts());
    }

    /** Returns 0 if it is unknown. */
    private int commonPoolParallelism() {
        String options = heap.options();
        if (options == null) return 0;
        double limit = reader.cpuLimit();
        int processors = limit > 0 ? Math.min(reader.processors(), (int) Math.ceil(limit)) : reader.processors();
        return CommonPool.parallelism(options, processors);
    }

    private void setProcess(ProcessReader.Reading now) {
        process.total.cpuNanos = now.process();
        process.total.userNanos = now.processUser();
    }

    /** Takes the names from the newest dump. Returns whether threads without a name have used CPU time. */
    private boolean resolve() {
        ThreadDump newest = dumps.newest();
        if (newest != resolved) names.learn(newest);
        resolved = newest;
        names.learnCarriers(agent.carriers());
        boolean isMissing = false;
        for (ProcThread thread : sampler.threads()) {
            names.assign(thread, dumps.canAttach());
            isMissing |= !thread.isNamed() && thread.hasUncounted();
        }
        return isMissing;
    }

    private void addNote(List<String> notes) {
        String failure = dumps.failure();
        if (failure == null) return;
        String process = dumps.isAllowed() ? "process " + pid + ": " : "";
        notes.add("thread names are truncated to 15 characters: " + process + failure);
    }

    private void end(ProcThread thread) {
        names.assign(thread, dumps.canAttach());
        ended.add(
                thread.pool(),
                thread.total.cpuNanos,
                thread.total.cpuNanos - thread.countedNanos() + thread.watchedNanos());
    }

    private static long midpoint(long a, long b) {
        return a + (b - a) / 2;
    }

    private static long difference(long now, long before) {
        return now < 0 || before < 0 ? -1 : Math.max(0, now - before);
    }

    /** Returns the ids of all threads, or else of the known ones. */
    private long[] tids(List<String> notes) throws MonitorException {
        long[] tids = reader.tids();
        if (tids != null) return tids;
        notes.add("new threads are missing, because too many files are open: raise the limit with ulimit -n");
        return sampler.threads().stream().mapToLong(thread -> thread.id).toArray();
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

    /** Returns the sections of named accounts that were open at the end of the last interval. */
    public List<AgentReport.Section> openSections() {
        return agent.openSections();
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
        ThreadDump.Entry found = dump().of(tid);
        if (found == null) throw new IOException("thread " + tid + " has no Java stack or has ended");
        return found.text();
    }

    /**
     * Returns a thread dump of the last {@code nanos}: one that was taken for another purpose, or else a new one if its
     * cost to the JVM allows that. Null otherwise.
     */
    public ThreadDump dumpIfCheap(long nanos) {
        ThreadDump newest = dumps.newest();
        if (newest != null && System.nanoTime() - newest.takenAt() < nanos) return newest;
        if (!dumps.mayDump()) return null;
        dumps.tryDump();
        return dumps.failure() == null ? dumps.newest() : null;
    }

    /** Returns a thread dump that is at most 100 ms old. */
    public ThreadDump dump() throws IOException {
        ThreadDump newest = dumps.newest();
        boolean recent = newest != null && System.nanoTime() - newest.takenAt() < RECENT_NANOS;
        return recent ? newest : dumps.dump();
    }

    @Override
    public void close() {
        sampler.close();
        reader.close();
        heap.close();
    }
}
