// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.List;
import java.util.Map;

/** {@code org.taskclock:type=TaskClock}: what the agent knows, and what can be changed while the program runs. Times in ns. */
public interface TaskClockMXBean {
    /** The name under which the bean is registered. */
    String NAME = "org.taskclock:type=TaskClock";

    /** The agent's version. */
    String getVersion();

    /** How CPU time is read: rseq, rseq-own, syscall, or mxbean where the kill switch is thrown. */
    String getRung();

    /** Every way to read CPU time, best first, with why it can be used here or not. */
    RungVerdict[] getRungs();

    /** The grain of user and system time, ns. */
    long getTickNanos();

    /** How the kernel tells user from system time: tick or precise. */
    String getAccounting();

    /** False is the kill switch: ThreadMXBean and Thread.yield are the JVM's own again, and no clock counts by itself. */
    boolean isEnabled();

    /** Throws the kill switch, or takes it back: then all is as it was before. */
    void setEnabled(boolean enabled);

    /** Whether ThreadMXBean answers from the clock. */
    boolean isThreadTimes();

    /** Sets whether ThreadMXBean answers from the clock. */
    void setThreadTimes(boolean fromClock);

    /** What Thread.yield does on a platform thread: pass, count, or off. */
    String getYieldMode();

    /** Sets what Thread.yield does on a platform thread: pass, count, or off. */
    void setYieldMode(String mode);

    /** What Thread.yield does on a virtual thread: pass, count, or off. */
    String getVirtualYieldMode();

    /**
     * Sets what Thread.yield does on a virtual thread: pass, count, or off. With off, a virtual thread that yields until another
     * virtual thread has done something may never leave its carrier, and so may wait forever; Thread.sleep(0) yields too.
     */
    void setVirtualYieldMode(String mode);

    /** The parts of the agent, with what is wrong with those that do not do what they were asked to. */
    Part[] getParts();

    /** How often a virtual thread was mounted while it was accounted for. */
    long getMounts();

    /** How many stacks of threads that yield were walked: at most two per kernel tick for the whole process. */
    long getStacks();

    /** How often something failed where nothing may be thrown, since the agent was loaded. */
    int getFailures();

    /** Where and how something failed last; null if nothing did. */
    String getLastFailure();

    /** Memory that the agent's records use, native and in the heap, in bytes; an estimate. */
    long getMemoryBytes();

    /** All threads of the process, the JVM's own too. */
    ThreadTime[] getThreads();

    /** Platform threads that yielded or carried virtual ones that did, most yields first. */
    Yielder[] getYielders();

    /** From where Thread.yield was called, most yields first: from a sample, in which each stands for those before it. */
    YieldSite[] getYieldSites();

    /** Yields by name of the virtual thread, with # for numbers, from the same sample; "(unnamed)" for those without a name. */
    Map<String, Long> getVirtualYielders();

    /** Whether virtual threads are accounted for. */
    boolean isAccountingVirtualThreads();

    /** Sets whether virtual threads are accounted for, each from its next mount on. */
    void setAccountingVirtualThreads(boolean wanted);

    /** CPU time of virtual threads by name, most first. A thread counts under the name that it had when it was first mounted. */
    VirtualThreadGroup[] getVirtualThreads();

    /** CPU time of the threads that carry virtual ones. */
    Carrier[] getCarriers();

    /** Whether there were more threads, names or places than are kept; what came after is counted together. */
    boolean isOverflown();

    /** Puts everything back, this bean too. */
    void detach();

    /** One part of the agent. */
    interface Part {
        /** As the option that switches it. */
        String getName();

        /** Its state, by the values of that option. */
        String getState();

        /** Why it is not in the state that was asked for; null if it is. */
        String getProblem();
    }

    /** One way to read CPU time. */
    interface RungVerdict {
        /** Its name. */
        String getName();

        /** Whether it can be used here. */
        boolean isUsable();

        /** Why, or why not. */
        String getReason();
    }

    /** CPU time of one thread. */
    interface ThreadTime {
        /** Java's name, or the kernel's for a thread of the JVM's own. */
        String getName();

        /** Java's id; -1 for a thread of the JVM's own. */
        long getId();

        /** The kernel's id. */
        int getTid();

        /** User and system together, ns. */
        long getCpuNanos();

        /** In user mode, ns. */
        long getUserNanos();

        /** In the kernel, ns. */
        long getSystemNanos();
    }

    /** Virtual threads of one name. */
    interface VirtualThreadGroup {
        /** Their name, with # for numbers; "(unnamed)" for those without, "(other)" for names beyond the first thousand. */
        String getName();

        /** How many live now. */
        long getLive();

        /** How many have ended. */
        long getEnded();

        /** User and system of all of them together, ns. */
        long getCpuNanos();

        /** In user mode, ns. */
        long getUserNanos();

        /** In the kernel, ns. */
        long getSystemNanos();
    }

    /** A thread that carries virtual ones; in the place of one that has ended comes another, and goes on from its figures. */
    interface Carrier {
        /** The kernel's id; 0 if it has ended. */
        long getTid();

        /** What it used since it first carried, user and system together, ns. */
        long getCpuNanos();

        /** In user mode, ns. */
        long getUserNanos();

        /** In the kernel, ns. */
        long getSystemNanos();

        /** What of its CPU time virtual threads used, ns. */
        long getCarriedNanos();

        /** What of its CPU time went to scheduling them, and to whatever else it did, ns. */
        long getOwnNanos();
    }

    /** What one platform thread, or all that ended under one name, did since counting began. */
    interface Yielder {
        /** The thread's name; of ended ones with # for digits. */
        String getName();

        /** The kernel's id; 0 for ended ones. */
        long getTid();

        /** Its own yields. */
        long getYields();

        /** Yields of virtual threads while it carried them. */
        long getVirtualYields();

        /** CPU time that its own yields took, from those that were measured, ns. */
        long getYieldNanos();

        /** At how many of its own yields it was switched out, likewise. */
        long getYieldSwitches();

        /** User time since its first yield, ns. */
        long getUserNanos();

        /** System time since its first yield, ns. */
        long getSystemNanos();

        /** How often it blocked since its first yield. */
        long getVoluntarySwitches();

        /** How often it was switched out since its first yield while it could have run. */
        long getInvoluntarySwitches();
    }

    /** A place that calls Thread.yield. */
    interface YieldSite {
        /** The caller, as in a stack trace; "(other)" for places beyond the first thousand. */
        String getSite();

        /** How many yields came from there. */
        long getYields();

        /** The caller and its callers, eight at most. */
        List<String> getStack();
    }
}
