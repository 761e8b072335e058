// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.slf4j.Marker;

/**
 * Puts the CPU time so far of the calling thread's innermost account into the MDC of each Logback event, as
 * {@value MdcCpuTime#KEY}:
 *
 * <pre>{@code
 * <turboFilter class="org.taskclock.bindings.LogbackCpuTime"/>
 * ... <pattern>%d %X{cpuMillis} %m%n</pattern>
 * }</pre>
 *
 * <p>It reads the account on the thread that logs, so that asynchronous appenders have the right value. Events below
 * the logger's level cost next to nothing.
 */
public final class LogbackCpuTime extends TurboFilter {
    /** Creates the filter, which lets all events pass. */
    public LogbackCpuTime() {}

    @Override
    public FilterReply decide(
            Marker marker, Logger logger, Level level, String format, Object[] params, Throwable throwable) {
        if (level.isGreaterOrEqual(logger.getEffectiveLevel())) MdcCpuTime.update();
        return FilterReply.NEUTRAL;
    }
}
