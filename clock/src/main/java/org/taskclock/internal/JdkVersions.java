// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.internal;

/**
 * All that depends on the version of the JDK: the first feature version of which each fact holds. No other file has
 * such a number, and documents are compared with these. Not part of the API.
 *
 * <p>The compiler copies constants into the classes that use them. The hooks in {@code java.base} can therefore use
 * them, though they cannot see this class, and so can the first reading of a process, which must load few classes.
 */
public final class JdkVersions {
    /** The oldest JDK that is supported, for which all classes are compiled. */
    public static final int OLDEST = 17;

    /** The JDKs on which the tests have run: those with long-term support, and the newest. */
    public static final String TESTED = "17, 21, 25, 26, 27";

    /** The last of {@link #TESTED}. Later ones probably work: a feature of the agent that fails its check stays off. */
    public static final int NEWEST_TESTED = 27;

    /** {@code Thread.threadId()}, which no class can override, and {@code Thread.isVirtual()} as a preview. */
    public static final int THREAD_ID = 19;

    /** Virtual threads (JEP 444), and with them {@code Thread.currentCarrierThread()}. */
    public static final int VIRTUAL_THREADS = 21;

    /** Loading an agent into a running JVM prints a warning of four lines (JEP 451). */
    public static final int ATTACH_WARNING = 21;

    /** {@code ThreadMXBean.getThreadUserTime} returns the CPU time if the id is the caller's own. */
    public static final int OWN_USER_TIME_WRONG = 21;

    /** This is corrected. */
    public static final int OWN_USER_TIME_RIGHT = 25;

    /** Foreign functions are final (JEP 454). Classes that use them are in {@code src/main/java22}. */
    public static final int FOREIGN_FUNCTIONS = 22;

    /** The option {@code --sun-misc-unsafe-memory-access} (JEP 471). */
    public static final int UNSAFE_OPTION = 23;

    /** Loading a native library without {@code --enable-native-access} prints a warning (JEP 472). */
    public static final int NATIVE_ACCESS_WARNING = 24;

    /** There is no security manager (JEP 486). */
    public static final int NO_SECURITY_MANAGER = 24;

    /** There is no flag {@code -XX:+DontYieldALot}. */
    public static final int NO_DONT_YIELD_A_LOT = 24;

    /** Thread dumps contain the stacks of mounted virtual threads. */
    public static final int VIRTUAL_STACKS = 24;

    /** A virtual thread that waits for a monitor, or in {@code Object.wait}, leaves its carrier (JEP 491). */
    public static final int MONITORS_WITHOUT_PINNING = 24;

    /** The ahead-of-time cache {@code -XX:AOTCache} (JEP 483). */
    public static final int AOT_CACHE = 24;

    /** {@code -XX:AOTCacheOutput}, which creates an ahead-of-time cache in one step (JEP 514). */
    public static final int AOT_CACHE_OUTPUT = 25;

    /** Scoped values are final (JEP 506). */
    public static final int SCOPED_VALUES = 25;

    /** Flight Recorder has the event {@code jdk.CPUTimeSample} (JEP 509). */
    public static final int CPU_TIME_SAMPLES = 25;

    /** A reply to an attached client is sent while it is written, unless the client forbids this. */
    public static final int STREAMED_REPLIES = 25;

    /** The middle of a long thread name is left out before the kernel gets it. */
    public static final int NAMES_WITHOUT_MIDDLE = 26;

    /** User time is a number of ticks, from a system call (JDK-8372584): in 26, and in updates of 25. */
    public static final int USER_TIME_IN_TICKS = 25;

    /** The last update in which user time still comes from text in {@code /proc}. */
    public static final String LAST_USER_TIME_AS_TEXT = "25.0.4";

    private JdkVersions() {}

    /**
     * Returns whether the JVM reads user time from {@code /proc} as text.
     *
     * @param version the version of the JVM
     * @return whether it reads text
     */
    public static boolean readsUserTimeAsText(Runtime.Version version) {
        Runtime.Version last = Runtime.Version.parse(LAST_USER_TIME_AS_TEXT);
        if (version.feature() != last.feature()) return version.feature() < last.feature();
        return version.interim() == 0 && version.update() <= last.update();
    }
}
