// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import org.taskclock.monitor.proc.MonitorException;

/**
 * The agent in a JVM, loaded or configured for as long as a tool needs it. {@link #close} restores the JVM, as does the
 * end of this process on a signal. An agent that was there before stays.
 */
public final class TemporaryAgent implements AutoCloseable {
    private final TargetJvm target;
    /** The options that restore the JVM; null if nothing was changed. */
    private final String previous;

    private final Thread atExit = new Thread(this::restoreAtExit, "taskclock-restore");

    private TemporaryAgent(TargetJvm target, String previous) {
        this.target = target;
        this.previous = previous;
    }

    /**
     * Lets the agent count the calls of Thread.yield.
     *
     * @throws MonitorException if it cannot; the message is the reason
     */
    public static TemporaryAgent countingYields(long pid) throws MonitorException {
        TargetJvm target = TargetJvm.of(pid);
        String mode = target.yieldMode();
        if ("off".equals(mode))
            throw new MonitorException(
                    MonitorException.Reason.FAILED,
                    "process " + pid + ": Thread.yield is off: run taskclock attach " + pid + " --yield pass");
        if ("count".equals(mode)) return new TemporaryAgent(target, null);
        return mode == null
                ? configure(target, YieldCount.YIELD_ONLY + "count", "detach")
                : configure(target, "yield=count", "yield=" + mode);
    }

    /**
     * Lets the agent report the named accounts of a program. It also accounts for virtual threads, because their
     * sections could not be counted otherwise.
     *
     * @throws MonitorException if it cannot; the message is the reason
     */
    public static TemporaryAgent reportingAccounts(long pid) throws MonitorException {
        TargetJvm target = TargetJvm.of(pid);
        return target.yieldMode() == null
                ? configure(target, YieldCount.YIELD_ONLY + "pass", "detach")
                : new TemporaryAgent(target, null);
    }

    private static TemporaryAgent configure(TargetJvm target, String options, String previous) throws MonitorException {
        TemporaryAgent agent = new TemporaryAgent(target, previous);
        Runtime.getRuntime().addShutdownHook(agent.atExit);
        try {
            target.setYieldMode(options);
            target.report(); // the first one takes longer, so no interval should wait for it
        } catch (MonitorException e) {
            agent.close();
            throw e;
        }
        return agent;
    }

    /** Returns the JVM. */
    public TargetJvm target() {
        return target;
    }

    /**
     * Restores the JVM, unless it has exited.
     *
     * @throws MonitorException if that fails
     */
    @Override
    public void close() throws MonitorException {
        if (previous == null) return;
        try {
            if (!Runtime.getRuntime().removeShutdownHook(atExit)) return; // closed already
        } catch (IllegalStateException e) {
            return; // this process is ending, so the hook restores the JVM
        }
        restore();
    }

    private void restore() throws MonitorException {
        try {
            target.configureAgent(previous);
        } catch (MonitorException e) {
            if (e.reason() != MonitorException.Reason.GONE) throw e;
        }
    }

    private void restoreAtExit() {
        try {
            restore();
        } catch (MonitorException e) {
            System.err.println("taskclock: " + e.getMessage());
        }
    }
}
