// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.List;
import java.util.Map;

/**
 * The agent's MXBean {@code org.taskclock:type=TaskClock}. It reports what the agent measures, and changes the agent's
 * options while the program runs. Times are in ns.
 */
public interface TaskClockMXBean {
    /** The name under which the bean is registered. */
    String NAME = "org.taskclock:type=TaskClock";

    /** Returns the agent's version. */
    String getVersion();

    /** Returns how CPU time is read: rseq, rseq-own, rseq-take, syscall, or mxbean while the kill switch is on. */
    String getBackend();

    /** Returns all backends, best first, with the reason why each can or cannot be used here. */
    BackendVerdict[] getBackends();

    /** Returns the resolution of user and system time, in ns. */
    long getTickNanos();

    /** Returns how the kernel separates user and system time: tick or precise. */
    String getAccounting();

    /**
     * Returns whether the agent is in effect. It is not while the kill switch is on: ThreadMXBean and Thread.yield then
     * behave as without the agent, and all clocks use system calls.
     */
    boolean isEnabled();

    /** Turns the kill switch on (false) or off (true). Turning it off restores the previous options. */
    void setEnabled(boolean enabled);

    /** Returns whether ThreadMXBean answers from the clock. */
    boolean isThreadMXBeanReplaced();

    /** Sets whether ThreadMXBean answers from the clock. */
    void setThreadMXBeanReplaced(boolean fromClock);

    /** Returns the mode of Thread.yield on platform threads: pass, count, or off. */
    String getYieldMode();

    /** Sets the mode of Thread.yield on platform threads: pass, count, or off. */
    void setYieldMode(String mode);

    /** Returns the mode of Thread.yield on virtual threads: pass, count, or off. */
    String getVirtualYieldMode();

    /**
     * Sets the mode of Thread.yield on virtual threads: pass, count, or off. With off, a virtual thread that waits for
     * another one by yielding may never leave its carrier, and may wait forever. Thread.sleep(0) yields too.
     */
    void setVirtualYieldMode(String mode);

    /** Returns the agent's features, and the problems of those that do not work as requested. */
    Feature[] getFeatures();

    /** Returns the number of mounts of virtual threads that were accounted for. */
    long getMounts();

    /**
     * Returns how often a mount, an unmount, or a reading in between asked the kernel for CPU time (clock_gettime).
     * This includes a few that a recent answer sufficed for.
     */
    long getMountClockCalls();

    /** Returns how often an unmount called getrusage, to split CPU time into user and system time. */
    long getMountUsageCalls();

    /** Returns the number of stacks walked at sampled yields: at most two per kernel tick for the whole process. */
    long getStacks();

    /** Returns the number of failures in code that must not throw, since the agent was loaded. */
    int getFailures();

    /** Returns where the last of these failures occurred, and its class, or null if there was none. */
    String getLastFailure();

    /** Returns an estimate of the memory of the agent's records, native and in the heap, in bytes. */
    long getMemoryBytes();

    /** Returns all platform threads of the process, including the JVM's own; none if the kernel cannot list them. */
    ThreadTime[] getThreads();

    /** Returns the platform threads that yielded or carried yielding virtual threads, most yields first. */
    Yielder[] getYielders();

    /**
     * Returns the call sites of Thread.yield, most yields first. They are sampled: each sample represents the yields of
     * its thread since the previous sample.
     */
    YieldSite[] getYieldSites();

    /**
     * Returns the number of yields by the name of the virtual thread, from the same samples. Names have # for numbers;
     * threads without a name are "(unnamed)".
     */
    Map<String, Long> getVirtualYielders();

    /** Returns whether virtual threads are accounted for. */
    boolean isVirtualThreadAccounting();

    /** Sets whether virtual threads are accounted for, each from its next mount on. */
    void setVirtualThreadAccounting(boolean on);

    /**
     * Returns the CPU time of virtual threads by name, most CPU time first. A thread is counted under the name that it
     * has at its first mount.
     */
    VirtualThreadGroup[] getVirtualThreads();

    /**
     * Returns the number of virtual threads that could run but wait for a carrier, as the JDK's scheduler knows it; -1
     * if this JDK schedules them in another way.
     */
    long getQueuedVirtualThreads();

    /**
     * Returns how many virtual threads the JDK's scheduler runs at the same time; 0 if there is none, or if unknown.
     */
    int getVirtualThreadParallelism();

    /** Returns the CPU time of the carriers of virtual threads. */
    Carrier[] getCarriers();

    /**
     * Returns what the named accounts of the program have used, by type, and the process's CPU time outside them as
     * "(unaccounted)". Accounts without a row of their own are counted together as "other".
     */
    Account[] getAccounts();

    /** Returns the sections of named accounts that are open now, for each type the longest first, at most 100. */
    Section[] getOpenSections();

    /** Returns whether there were more threads, names, or call sites than are kept. The rest are counted together. */
    boolean isTruncated();

    /** Removes everything that the agent installed, including this bean. */
    void detach();

    /** One feature of the agent. */
    interface Feature {
        /** Returns the option that controls it. */
        String getName();

        /** Returns the current value of that option. */
        String getState();

        /** Returns why the state is not the requested value, or null if it is. */
        String getProblem();
    }

    /** The usability of one backend. */
    interface BackendVerdict {
        /** Returns the name of the backend. */
        String getName();

        /** Returns whether it can be used here. */
        boolean isUsable();

        /** Returns why it can or cannot be used. */
        String getReason();
    }

    /** The CPU time of one thread. */
    interface ThreadTime {
        /** Returns the Java name, or the kernel's name for a thread of the JVM itself. */
        String getName();

        /** Returns the Java id, or -1 for a thread of the JVM itself. */
        long getId();

        /** Returns the kernel's id. */
        int getTid();

        /** Returns the CPU time, user and system together, ns. */
        long getCpuNanos();

        /** Returns the user time, ns. */
        long getUserNanos();

        /** Returns the system time, ns. */
        long getSystemNanos();
    }

    /** The virtual threads with the same name. */
    interface VirtualThreadGroup {
        /**
         * Returns the name, with # for numbers. It is "(unnamed)" for threads without a name, and "(other)" for all
         * names after the first thousand.
         */
        String getName();

        /** Returns the number of live threads. */
        long getLive();

        /** Returns the number of threads that a carrier runs right now. */
        long getMounted();

        /** Returns the number of ended threads. */
        long getEnded();

        /** Returns the CPU time of all of them, user and system together, ns. */
        long getCpuNanos();

        /** Returns the user time, ns. */
        long getUserNanos();

        /** Returns the system time, ns. */
        long getSystemNanos();
    }

    /** A carrier of virtual threads. A carrier that replaces an ended one adds to the figures of that one. */
    interface Carrier {
        /** Returns the kernel's id, or 0 if it has ended. */
        long getTid();

        /** Returns its CPU time since its first mount, user and system together, ns. */
        long getCpuNanos();

        /** Returns the user time, ns. */
        long getUserNanos();

        /** Returns the system time, ns. */
        long getSystemNanos();

        /** Returns the part of its CPU time that virtual threads used, ns. */
        long getCarriedNanos();

        /** Returns the rest of its CPU time, for scheduling and other work, ns. */
        long getOwnNanos();
    }

    /** What a named account has used. A time is -1 if it is not counted. */
    interface Account {
        /** Returns the type, such as tenant. */
        String getType();

        /** Returns the name. */
        String getName();

        /** Returns the CPU time, user and system together, ns. */
        long getCpuNanos();

        /** Returns the user time, estimated, ns. */
        long getUserNanos();

        /** Returns the system time, estimated, ns. */
        long getSystemNanos();

        /** Returns how long its threads were ready to run but had no processor, ns. */
        long getWaitNanos();

        /** Returns the bytes of heap that it allocated. */
        long getAllocatedBytes();

        /** Returns the number of its closed sections. */
        long getSections();

        /** Returns the number of sections that could not be counted. */
        long getUncounted();

        /** Returns the number of sections that were never closed. */
        long getUnclosed();

        /** Returns how often a section was closed twice or on another thread. */
        long getMisclosed();

        /** Returns the median CPU time of a section, ns. */
        long getMedianNanos();

        /** Returns the CPU time that 99 % of the sections do not exceed, ns. */
        long getPercentile99Nanos();
    }

    /** A section of a named account that is open now. */
    interface Section {
        /** Returns the type of the account. */
        String getType();

        /** Returns the name of the account. */
        String getName();

        /** Returns the name of the thread. */
        String getThread();

        /** Returns the thread's Java id. */
        long getId();

        /** Returns for how long it has been open at least: since it was first seen, ns. */
        long getOpenNanos();

        /** Returns its CPU time so far, ns. */
        long getCpuNanos();
    }

    /** The yields of one platform thread, or of all ended threads with the same name, since counting began. */
    interface Yielder {
        /** Returns the thread's name, for ended threads with # for numbers. */
        String getName();

        /** Returns the kernel's id, or 0 for ended threads. */
        long getTid();

        /** Returns the number of its own yields. */
        long getYields();

        /** Returns the number of yields of virtual threads that it carried. */
        long getVirtualYields();

        /** Returns the CPU time of its own yields, extrapolated from measured ones, ns; at most the thread's own. */
        long getYieldNanos();

        /** Returns the number of its own yields with a context switch, extrapolated from measured ones. */
        long getYieldSwitches();

        /** Returns its user time since its first yield, ns. */
        long getUserNanos();

        /** Returns its system time since its first yield, ns. */
        long getSystemNanos();

        /** Returns how often it has blocked since its first yield. */
        long getVoluntarySwitches();

        /** Returns how often it has been preempted since its first yield. */
        long getInvoluntarySwitches();
    }

    /** A call site of Thread.yield. */
    interface YieldSite {
        /** Returns the caller as in a stack trace, or "(other)" for all sites after the first thousand. */
        String getSite();

        /** Returns the number of yields. */
        long getYields();

        /** Returns the caller and its callers, at most eight frames. */
        List<String> getStack();
    }
}
