// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.taskclock.CpuTime;
import org.taskclock.monitor.proc.HostCpu;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.proc.ProcFile;

/**
 * Opens {@link PoolSampler}s and holds what they share: the limits on open files and on CPU time, and the buffers. All
 * samplers of a group may be used by several threads, but only by one at a time.
 */
public final class PoolSamplers implements AutoCloseable {
    /**
     * Each open file of /proc holds a page of kernel memory, so only the files of threads that run often stay open, up
     * to this number.
     */
    private static final int MAX_OPEN_FILES = 4_096;

    /** The maximum share of one core for readings of all threads other than those by {@link PoolSampler#read}. */
    private static final double READ_SHARE = 0.01;

    private static final int TEXT_BYTES = 4_096;

    private static final long STACK_BYTES = 256 << 10;

    final ProcFile.Budget files = new ProcFile.Budget(MAX_OPEN_FILES);
    final ReadBudget readings = new ReadBudget(READ_SHARE, System.nanoTime());
    final byte[] text = new byte[TEXT_BYTES];
    final HostCpu machine = new HostCpu(files);

    private final boolean attach;
    final long accountsNanos;

    /** Each JVM uses at most one, through its {@link JvmWorker}. */
    private final ExecutorService threads =
            new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(null, task, "taskclock-names", STACK_BYTES);
                thread.setDaemon(true);
                return thread;
            });

    /**
     * Creates a group.
     *
     * @param attach whether JVMs may be attached to, for the names of threads and for what the agent counts
     * @param accountsInterval how old the named accounts in {@link PoolSampler#readRecent} may be, unless the JVM is
     *     busy
     */
    public PoolSamplers(boolean attach, Duration accountsInterval) {
        this.attach = attach;
        this.accountsNanos = accountsInterval.toNanos();
    }

    /** Creates a group whose named accounts are as recent as the rest. */
    public PoolSamplers(boolean attach) {
        this(attach, Duration.ZERO);
    }

    /** Returns what sends requests to a JVM; null if no JVM may be attached to. */
    Executor newWorker() {
        return attach ? new JvmWorker(threads) : null;
    }

    /** Opens a sampler like {@link #open(long, boolean, int)}, and looks for the version of the JVM. */
    public PoolSampler open(long pid, boolean fromStart) throws MonitorException {
        return open(pid, fromStart, JvmProcesses.featureOf(pid));
    }

    /**
     * Opens a sampler. Reads only what the kernel answers at once.
     *
     * @param fromStart whether to count what the JVM used before this call
     * @param feature the feature version of the JVM; 0 if unknown
     * @throws MonitorException if the process has ended
     */
    public PoolSampler open(long pid, boolean fromStart, int feature) throws MonitorException {
        return new PoolSampler(this, (int) pid, fromStart, feature);
    }

    /** Returns the CPU time of all processes since the machine started; unknown if it cannot be read. */
    public CpuTime machineTime() {
        return machine.now();
    }

    public int processors() {
        return machine.processors();
    }

    /** Restores the interrupt status of the thread if an interrupt closed a file. */
    public void restoreInterrupt() {
        files.restoreInterrupt();
    }

    @Override
    public void close() {
        machine.close();
        threads.shutdownNow();
    }
}
