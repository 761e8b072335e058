// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import org.slf4j.MDC;

/**
 * Puts the CPU time so far of the calling thread's innermost account into SLF4J's MDC, where patterns find it as
 * {@code %X{cpuMillis}}. Each call reads the account, which takes longer the more threads have worked for it.
 *
 * <p>With Log4j or Logback, {@link Log4jCpuTime} or {@link LogbackCpuTime} does this for each event.
 */
public final class MdcCpuTime {
    /** The key of the CPU time, which is in milliseconds with three decimals. */
    public static final String KEY = "cpuMillis";

    private MdcCpuTime() {}

    /** Updates the value, or removes it if the thread works for no account or the CPU time is not completely known. */
    public static void update() {
        String millis = CurrentCpuTime.millis();
        if (millis == null) MDC.remove(KEY);
        else MDC.put(KEY, millis);
    }
}
