// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.List;
import org.taskclock.PoolName;

/** Derives a thread's kind, and the pool of a thread of the JVM, from its name. */
public final class ThreadNames {
    /** TASK_COMM_LEN - 1: the kernel truncates names to this many bytes. */
    public static final int KERNEL_LENGTH = 15;

    /** The number of characters that JDK 26 and later keep in front of the omitted middle of a long name. */
    private static final int HEAD_LENGTH = 7;

    /** Names that HotSpot gives its threads, from JDK 17 to 27. A "*" at the end stands for a number. */
    private static final List<String> GC = List.of(
            "GC Thread#*",
            "ParGC Thread#*",
            "G1 Main Marker",
            "G1 Conc#*",
            "G1 Refine#*",
            "G1 Refine Control",
            "G1 Service",
            "G1 Young RemSet Sampling",
            "ZDirector",
            "ZDriver",
            "ZDriverMajor",
            "ZDriverMinor",
            "ZStat",
            "ZUncommitter",
            "ZUncommitter#*",
            "ZUnmapper",
            "ZWorker#*",
            "ZWorkerOld#*",
            "ZWorkerYoung#*",
            "RuntimeWorker#*",
            "XDirector",
            "XDriver",
            "XStat",
            "XUncommitter",
            "XUnmapper",
            "XWorker#*",
            "Shenandoah GC Threads#*",
            "Shenandoah Control Thread",
            "Shenandoah Regulator Thread",
            "Shenandoah Uncommit Thread",
            "Safepoint Cleanup Thread#*",
            "StringDedup",
            "StringDedupProcessor");

    private static final List<String> JIT = List.of(
            "C1 CompilerThread*",
            "C2 CompilerThread*",
            "JVMCI CompilerThread*",
            "JVMCI-native CompilerThread*",
            "Sweeper thread",
            "Training Replay Thread");

    private static final List<String> VM = List.of(
            "VM Thread",
            "VM Periodic Task Thread",
            "WatcherThread",
            "Reference Handler",
            "Finalizer",
            "Signal Dispatcher",
            "Service Thread",
            "Monitor Deflation Thread",
            "Notification Thread",
            "Common-Cleaner",
            "Attach Listener",
            "JFR Recorder Thread",
            "JFR Recording Scheduler",
            "JFR Sampler Thread",
            "JFR Thread Sampler",
            "JFR CPU Time Sampler",
            "JFR CPU Sampler Thread",
            "JFR Periodic Tasks",
            "AsyncLog Thread",
            "StatSampler",
            "DestroyJavaVM",
            "VM Op#*",
            "VirtualThread-unblocker",
            "VirtualThread-unparker",
            "Surrogate Locker Thread (Concurrent GC)",
            "NMT Periodic*");

    /** Prefixes of the names of collectors' threads, for collectors in later versions. */
    private static final List<String> GC_STARTS = List.of("GC Thread", "G1 ", "Z", "X", "Shenandoah", "Epsilon");

    /** What is known about a thread besides its name. */
    public enum Owner {
        /** It carries virtual threads. */
        CARRIER,
        /** It runs Java code, also if the JVM started it: a collector's or a compiler's thread never does. */
        JAVA,
        /** The JVM lists it as a Java thread that runs no Java code, as it does its compilers. */
        FRAMELESS,
        /** The JVM lists it as one of its own. */
        JVM,
        /** It is no Java thread. It may belong to the JVM or to a native library. */
        NOT_JAVA,
        /** Only the name is known, and any thread can have any name. */
        UNKNOWN
    }

    private ThreadNames() {}

    /**
     * Returns the kind of a thread. If only the name is known, names of HotSpot count as such if they match exactly.
     * The kernel's name may be truncated.
     */
    public static ThreadKind kind(String name, Owner owner) {
        if (owner == Owner.CARRIER) return ThreadKind.CARRIER;
        if (owner == Owner.JVM && GC_STARTS.stream().anyMatch(name::startsWith)) return ThreadKind.GC;
        if (owner != Owner.JAVA && owner != Owner.FRAMELESS && isOneOf(GC, name)) return ThreadKind.GC;
        if (owner != Owner.JAVA && isOneOf(JIT, name)) return ThreadKind.JIT;
        if (owner == Owner.JVM || isOneOf(VM, name)) return ThreadKind.VM;
        return owner == Owner.NOT_JAVA ? ThreadKind.NATIVE : ThreadKind.JAVA;
    }

    /**
     * Returns whether a name is one that the scheduler of virtual threads gives its workers: in full, truncated, or
     * shortened in the middle as JDK 26 does. Its delayScheduler, which wakes sleeping threads, is not a carrier.
     */
    public static boolean isCarrier(String name) {
        return (name.startsWith("ForkJoinPool-1-") && !name.endsWith("-delayScheduler"))
                || name.startsWith("ForkJoi..rker-");
    }

    /** Returns the name of a thread that has a new one: when main returns, the main thread gets one that says so. */
    public static String renamed(String before, String now) {
        return now.equals("DestroyJavaVM") && !before.isEmpty() ? before : now;
    }

    /**
     * Returns the pool of a thread that is not known to be a Java thread. The kernel truncates names; those of HotSpot
     * are completed, so that they are the same as in a thread dump.
     */
    public static String pool(String kernelName) {
        if (kernelName.length() == KERNEL_LENGTH)
            for (List<String> known : List.of(GC, JIT, VM))
                for (String pattern : known)
                    if (matches(kernelName, pattern)) return PoolName.of(pattern.replace('*', '0'));
        return PoolName.of(kernelName);
    }

    private static boolean isOneOf(List<String> known, String name) {
        for (String pattern : known) if (matches(name, pattern)) return true;
        return false;
    }

    private static boolean matches(String name, String pattern) {
        boolean isNumbered = pattern.endsWith("*");
        return matches(name, isNumbered ? pattern.substring(0, pattern.length() - 1) : pattern, isNumbered);
    }

    private static boolean matches(String name, String start, boolean isNumbered) {
        if (isComplete(name, start, isNumbered)) return true;
        if (name.length() != KERNEL_LENGTH) return false;
        if (start.length() >= KERNEL_LENGTH && start.startsWith(name)) return true;
        // JDK 26 and later leave out the middle before they pass a name to the kernel.
        String head = name.substring(0, HEAD_LENGTH);
        if (!name.startsWith("..", HEAD_LENGTH) || !start.startsWith(head)) return false;
        String tail = name.substring(HEAD_LENGTH + 2);
        return isComplete(tail, start.substring(Math.max(HEAD_LENGTH, start.length() - lettersIn(tail))), isNumbered);
    }

    private static boolean isComplete(String name, String start, boolean isNumbered) {
        int letters = isNumbered ? lettersIn(name) : name.length();
        if (isNumbered && letters == name.length()) return false;
        return letters == start.length() && name.startsWith(start);
    }

    /** Returns the length of a name without the number at its end. */
    private static int lettersIn(String name) {
        int end = name.length();
        while (end > 0 && name.charAt(end - 1) >= '0' && name.charAt(end - 1) <= '9') end--;
        return end;
    }
}
