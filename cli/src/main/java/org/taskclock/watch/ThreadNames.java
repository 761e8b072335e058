// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.util.List;
import java.util.regex.Pattern;

/** What the name of a thread tells. */
public final class ThreadNames {
    /** The kernel keeps so many bytes. */
    static final int KERNEL_LENGTH = 15;

    private static final Pattern NUMBER = Pattern.compile("[0-9]+");

    /** As HotSpot calls them; a name that ends in "*" stands for all that begin so. */
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

    /** Each number becomes #, so that threads of one pool share a name. */
    static String pool(String name) {
        return NUMBER.matcher(name).replaceAll("#");
    }

    public static Row.Kind kind(String name) {
        if (isOneOf(GC, name)) return Row.Kind.GC;
        if (isOneOf(JIT, name)) return Row.Kind.JIT;
        return isOneOf(VM, name) ? Row.Kind.VM : Row.Kind.JAVA;
    }

    /**
     * As the virtual threads' scheduler calls its threads, in full, cut, and cut in the middle as JDK 26 does. It has another one
     * there, which wakes those that sleep.
     */
    static boolean isCarrier(String name) {
        return (name.startsWith("ForkJoinPool-1-") && !name.endsWith("-delayScheduler"))
                || name.startsWith("ForkJoi..rker-");
    }

    private static boolean isOneOf(List<String> known, String name) {
        for (String pattern : known) {
            int star = pattern.indexOf('*');
            String start = star < 0 ? pattern : pattern.substring(0, star);
            if (star < 0 ? name.equals(start) : name.startsWith(start) && holdsRest(pattern, star, name)) return true;
            if (name.length() > KERNEL_LENGTH) continue;
            if (star < 0 && (name.equals(cut(start)) || name.equals(cutInTheMiddle(start)))) return true;
            // What stands behind the star is not known, so only what stands before it can be compared.
            int middle = name.indexOf("..");
            if (middle == 7 && start.length() >= 7 && name.startsWith(start.substring(0, 7))) return true;
            if (name.length() == KERNEL_LENGTH && start.length() >= KERNEL_LENGTH && start.startsWith(name))
                return true;
        }
        return false;
    }

    private static boolean holdsRest(String pattern, int star, String name) {
        return name.indexOf(pattern.substring(star + 1).replace("*", ""), star) >= 0;
    }

    private static String cut(String name) {
        return name.length() <= KERNEL_LENGTH ? name : name.substring(0, KERNEL_LENGTH);
    }

    private static String cutInTheMiddle(String name) {
        return name.length() <= KERNEL_LENGTH ? name : name.substring(0, 7) + ".." + name.substring(name.length() - 6);
    }
}
