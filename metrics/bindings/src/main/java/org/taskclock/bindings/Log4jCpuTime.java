// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.util.Map;
import org.apache.logging.log4j.core.util.ContextDataProvider;

/**
 * Adds the CPU time so far of the calling thread's innermost account to the context data of each Log4j event, as
 * {@value MdcCpuTime#KEY}. Log4j finds this class as a service and calls it on the thread that logs, so that
 * asynchronous loggers have the right value. A pattern such as {@code %d %X{cpuMillis} %m%n} shows it.
 */
public final class Log4jCpuTime implements ContextDataProvider {
    /** Creates the provider. */
    public Log4jCpuTime() {}

    @Override
    public Map<String, String> supplyContextData() {
        String millis = CurrentCpuTime.millis();
        return millis == null ? Map.of() : Map.of(MdcCpuTime.KEY, millis);
    }
}
