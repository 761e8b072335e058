// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.File;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.taskclock.CpuTime;
import org.taskclock.ProcStat;
import org.taskclock.ProcessClock;

/**
 * Watches one JVM: each call of {@link #next} gives the interval since the one before, how long that was being up to the caller. Reads
 * /proc, which the JVM does not notice; asks it for names, where that is allowed, when there are threads that are not known. One thread
 * at a time.
 */
public final class Sampler implements AutoCloseable {
    private static final byte[] NSTGID = ProcText.key("NStgid");

    private final int pid;
    private final int innerPid;
    private final String name;
    private final boolean precise;
    private final byte[] text = new byte[16_384];
    private final ProcFile.Budget budget = new ProcFile.Budget(Machine.filesForThreads());
    private final ProcFile stat;
    private final Machine machine = new Machine(budget);
    private final ProcessClock clock;
    private final ProcessClock own = ProcessClock.current();
    private final Cgroup cgroup;
    private final File tasks;
    private final Names names;
    private final Diagnoses diagnoses;
    private final AgentView agent;
    private final Map<Integer, Watched> threads = new HashMap<>();
    private final EndedThreads gone;

    // Null before the first reading.
    private Reading last;
    private Steered process;
    private Steered processUser;
    private long readings;

    /** How long the first reading took. */
    private long startNanos;

    /** What is read of others than threads. */
    private record Reading(
            long nanos, long process, long processUser, long container, long throttled, long machine, long own) {}

    private Sampler(long pid, boolean attach) throws Unwatchable {
        Jvms.check(pid);
        this.pid = (int) pid;
        name = Jvms.nameOf(pid);
        stat = new ProcFile("/proc/" + pid + "/stat", budget);
        clock = ProcessClock.of(pid);
        cgroup = Cgroup.of(pid);
        tasks = new File("/proc/" + pid + "/task");
        int length = new ProcFile("/proc/" + pid + "/status", budget).read(text);
        long inner = ProcText.lastInLine(text, length, NSTGID);
        innerPid = inner > 0 ? (int) inner : this.pid;
        ProcFile schedstat = new ProcFile("/proc/" + pid + "/task/" + pid + "/schedstat", budget);
        var ran = schedstat.read();
        // All zeros where the kernel does not keep it.
        precise = ran != null && ProcText.number(ran) > 0;
        schedstat.close();
        names = new Names(this.pid, innerPid, attach);
        diagnoses = new Diagnoses(names);
        agent = new AgentView(this.pid, innerPid, attach);
        gone = new EndedThreads(this.pid);
    }

    /** Watches a JVM, and attaches to it for the names of its threads. */
    public static Sampler of(long pid) throws Unwatchable {
        return new Sampler(pid, true);
    }

    /** Watches a JVM that notices nothing of it. */
    public static Sampler withoutAttach(long pid) throws Unwatchable {
        return new Sampler(pid, false);
    }

    public long pid() {
        return pid;
    }

    /** Of the program: its main class or jar. */
    public String name() {
        return name;
    }

    /**
     * Takes a reading.
     *
     * @return the interval since the one before; the first is an interval without rows
     * @throws Unwatchable if the JVM has ended
     */
    public Frame next() throws Unwatchable {
        try {
            return last == null ? first() : advance();
        } finally {
            budget.restoreInterrupt();
        }
    }

    private Frame first() throws Unwatchable {
        long start = System.nanoTime();
        List<String> notes = new ArrayList<>();
        names.prime(notes);
        agent.advance(1);
        for (int tid : tids()) {
            Watched thread = new Watched(pid, tid, precise, budget, text);
            if (thread.start(false, 0)) threads.put(tid, thread);
        }
        // Once more, as that took long: opening the files, and code that runs for the first time.
        long before = processNanos();
        long again = System.nanoTime();
        threads.values().removeIf(thread -> !thread.advance(Long.MAX_VALUE));
        last = read(again);
        startNanos = System.nanoTime() - again;
        process = new Steered(last.process);
        processUser = new Steered(last.processUser);
        gone.start(between(before, last.process), liveTotal());
        return new Frame(
                Instant.now(),
                Math.max(1, last.nanos - start),
                pid,
                name,
                "proc",
                List.of(),
                new Totals(0, 0, -1, cgroup.cores(), -1, 0, machine.processors(), 0),
                List.of(),
                notes);
    }

    private Frame advance() throws Unwatchable {
        readings++;
        char processState = processState();
        int[] tids = tids();
        long before = processNanos();
        long start = System.nanoTime();
        // Threads are read in the same order each time, so each one's interval is about as long as all.
        long interval = Math.max(1, start - last.nanos);
        for (int tid : tids) {
            Watched thread = threads.get(tid);
            boolean alive = thread != null && thread.advance(interval);
            if (!alive) {
                if (thread != null) remove(thread);
                thread = new Watched(pid, tid, precise, budget, text);
                if (!thread.start(true, interval)) continue;
                threads.put(tid, thread);
            }
            thread.seen = readings;
        }
        for (Iterator<Watched> all = threads.values().iterator(); all.hasNext(); ) {
            Watched thread = all.next();
            if (thread.seen == readings) continue;
            all.remove();
            remove(thread);
        }
        Reading now = read(start);
        long most = machine.processors() * interval;
        long processMore = process.advance(now.process, most);
        long userMore = Math.min(processMore, processUser.advance(now.processUser, processMore));

        List<String> notes = new ArrayList<>();
        names.resolve(threads.values(), notes);
        if (!precise) notes.add("this kernel tells threads' CPU time in steps of 10 ms only");
        List<Row> rows = new ArrayList<>(threads.size() + 1);
        long sum = 0;
        long sumUser = 0;
        boolean stopped = processState == 'T' || processState == 't';
        for (Watched thread : threads.values()) {
            rows.add(thread.row(pid, thread.tid == pid, stopped));
            sum += thread.cpuNanos;
            sumUser += thread.userNanos;
        }
        long readingNanos = startNanos + System.nanoTime() - start;
        long goneNanos = gone.nanos(between(before, now.process), liveTotal(), machine.processors() * readingNanos / 2);
        if (goneNanos > 0) {
            goneNanos = Math.min(goneNanos, most);
            rows.add(gone.row(goneNanos, Math.max(0, Math.min(goneNanos, userMore - sumUser))));
            sum += goneNanos;
        }
        agent.advance(interval);
        rows.addAll(agent.rows());
        if (agent.complaint() != null) notes.add(agent.complaint());
        rows.sort(Comparator.comparingLong(Row::cpuNanos).reversed());
        Totals totals = new Totals(
                Math.min(Math.max(processMore, sum), most),
                Math.min(Math.max(userMore, 0), processMore),
                difference(now.container, last.container),
                cgroup.cores(),
                difference(now.throttled, last.throttled),
                Math.min(now.machine - last.machine, most),
                machine.processors(),
                now.own - last.own);
        last = now;
        Instant end = Instant.now();
        List<Diagnosis> found = diagnoses.of(rows, totals, interval, agent);
        return new Frame(end, interval, pid, name, agent.isPresent() ? "agent" : "proc", rows, totals, found, notes);
    }

    private void remove(Watched thread) {
        thread.close();
        gone.add(thread);
    }

    private static long between(long a, long b) {
        return a + (b - a) / 2;
    }

    private long liveTotal() {
        long sum = 0;
        for (Watched thread : threads.values()) sum += thread.total;
        return sum;
    }

    private static long difference(long now, long before) {
        return now < 0 || before < 0 ? -1 : Math.max(0, now - before);
    }

    private Reading read(long nanos) throws Unwatchable {
        CpuTime time = clock.now();
        if (!time.isKnown()) {
            ProcStat now = readStat();
            time = new CpuTime(now.userNanos() + now.systemNanos(), now.userNanos(), now.systemNanos());
        }
        return new Reading(
                nanos,
                time.cpuNanos(),
                time.userNanos(),
                cgroup.cpuNanos(),
                cgroup.throttledNanos(),
                machine.cpuNanos(),
                own.cpuNanos());
    }

    private long processNanos() throws Unwatchable {
        long now = clock.cpuNanos();
        if (now >= 0) return now;
        ProcStat read = readStat();
        return read.userNanos() + read.systemNanos();
    }

    private char processState() throws Unwatchable {
        char state = readStat().state();
        if (state == 'Z' || state == 'X') {
            int[] left = tids();
            // Where only its first thread has ended, the others go on.
            if (left.length <= 1) throw ended();
        }
        return state;
    }

    private ProcStat readStat() throws Unwatchable {
        int length = stat.read(text);
        if (length <= 0) throw ended();
        return ProcStat.parse(text, length);
    }

    private Unwatchable ended() {
        return new Unwatchable(Unwatchable.Reason.GONE, "process " + pid + " has ended");
    }

    private int[] tids() throws Unwatchable {
        String[] found = tasks.list();
        if (found == null || found.length == 0) throw ended();
        int[] tids = new int[found.length];
        for (int i = 0; i < tids.length; i++) tids[i] = Integer.parseInt(found[i]);
        return tids;
    }

    /** Calls of Thread.yield in the last interval; -1 where the agent is not in the JVM, or does not count them. */
    public long yields() {
        return agent.yields();
    }

    /** Those by a thread, or by virtual threads on it; 0 where that is not known. */
    public double yieldsASecond(Row row) {
        return agent.yieldsASecond(row.tid());
    }

    /**
     * What a thread does at this moment.
     *
     * @param tid as in {@link Row#tid}
     * @return its stack, many lines, with that of the virtual thread that it carries where the JVM tells it
     * @throws IOException if the JVM does not tell, with the reason
     */
    public String stacks(int tid) throws IOException {
        ThreadDump.Entry found = names.dump().of(tid);
        if (found == null) throw new IOException("thread " + tid + " has no Java stack, or has ended");
        return found.text();
    }

    @Override
    public void close() {
        for (Watched thread : threads.values()) thread.close();
        stat.close();
        machine.close();
        names.close();
    }
}
