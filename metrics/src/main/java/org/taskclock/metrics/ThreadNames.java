// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

/** Derives a thread's kind and pool from its name. */
public final class ThreadNames {
    /** TASK_COMM_LEN - 1: the kernel truncates names to this many bytes. */
    public static final int KERNEL_LENGTH = 15;

    /** Pools have names up to this length. Some programs put a request or a statement into the name of a thread. */
    static final int MAX_POOL_LENGTH = 200;

    private static final Pattern NUMBER = Pattern.compile("[0-9]+");

    /** The names of HotSpot's threads; "*" matches any text. */
    private static final List<String> GC = List.of(
            "GC Thread*",
            "G1 *",
            "ParGC*",
            "Z*#*",
            "ZDirector*",
            "ZDriver*",
            "ZStat*",
            "ZUncommitter*",
            "ZUnmapper*",
            "ZWorker*",
            "ZCollection*",
            "XDirector*",
            "XDriver*",
            "XStat*",
            "XUncommitter*",
            "XUnmapper*",
            "XWorker*",
            "Shenandoah*",
            "Epsilon*",
            "StringDedup*");

    private static final List<String> JIT =
            List.of("C1 Comp*", "C2 Comp*", "JVMCI*", "Sweeper thread", "Training Replay*");
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
            "JFR Recorder*",
            "JFR Sampler*",
            "JFR Periodic*",
            "JFR Thread*",
            "AsyncLog Thread",
            "StatSampler",
            "DestroyJavaVM",
            "VM Op*",
            "VirtualThread-unblocker",
            "VirtualThread-unparker",
            "Surrogate Locker*",
            "NMT Periodic*");

    private ThreadNames() {}

    /**
     * Replaces each number with #, so that the threads of a pool share a name. Cuts long names, and replaces what has
     * no encoding in UTF-8, so that names that differ here also differ where they are sent.
     */
    public static String pool(String name) {
        String pool = NUMBER.matcher(name).replaceAll("#");
        if (pool.length() > MAX_POOL_LENGTH) pool = pool.substring(0, MAX_POOL_LENGTH) + "~";
        boolean isPlain = pool.chars().noneMatch(c -> Character.isSurrogate((char) c));
        return isPlain ? pool : new String(pool.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    /** Returns GC, JIT, or VM for a thread of the JVM, and JAVA for any other. The name may be truncated. */
    public static ThreadKind kind(String name) {
        if (isOneOf(GC, name)) return ThreadKind.GC;
        if (isOneOf(JIT, name)) return ThreadKind.JIT;
        return isOneOf(VM, name) ? ThreadKind.VM : ThreadKind.JAVA;
    }

    /**
     * Returns whether a name is one that the scheduler of virtual threads gives its workers: in full, truncated, or
     * shortened in the middle as JDK 26 does. Its delayScheduler, which wakes sleeping threads, is not a carrier.
     */
    public static boolean isCarrier(String name) {
        return (name.startsWith("ForkJoinPool-1-") && !name.endsWith("-delayScheduler"))
                || name.startsWith("ForkJoi..rker-");
    }

    private static boolean isOneOf(List<String> known, String name) {
        for (String pattern : known) {
            int star = pattern.indexOf('*');
            String start = star < 0 ? pattern : pattern.substring(0, star);
            if (star < 0 ? name.equals(start) : name.startsWith(start) && matchesRest(pattern, star, name)) return true;
            if (name.length() > KERNEL_LENGTH) continue;
            if (star < 0 && (name.equals(truncated(start)) || name.equals(shortened(start)))) return true;
            // The text after the star is unknown, so only the text before it can be compared.
            int middle = name.indexOf("..");
            if (middle == 7 && start.length() >= 7 && name.startsWith(start.substring(0, 7))) return true;
            if (name.length() == KERNEL_LENGTH && start.length() >= KERNEL_LENGTH && start.startsWith(name))
                return true;
        }
        return false;
    }

    private static boolean matchesRest(String pattern, int star, String name) {
        return name.indexOf(pattern.substring(star + 1).replace("*", ""), star) >= 0;
    }

    private static String truncated(String name) {
        return name.length() <= KERNEL_LENGTH ? name : name.substring(0, KERNEL_LENGTH);
    }

    /** Shortens a name in the middle, as JDK 26 and later do before passing it to the kernel. */
    private static String shortened(String name) {
        return name.length() <= KERNEL_LENGTH ? name : name.substring(0, 7) + ".." + name.substring(name.length() - 6);
    }
}
