// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

/**
 * An alert that Prometheus raises, from averages over five minutes.
 *
 * @param minutes how long the condition must last
 * @param condition in PromQL; its lines are kept
 * @param summary a template
 * @param comment empty if none
 */
public record Alert(String name, int minutes, Severity severity, String condition, String summary, String comment) {
    public enum Severity {
        INFO,
        WARNING
    }

    /** The start of a summary: which JVM. The labels are missing where metrics come from inside a program. */
    static final String JVM = "{{ or $labels.jvm $labels.job }} on {{ $labels.instance }}: ";

    /** The same, and which of its pools. */
    static final String POOL = JVM + "pool \"{{ $labels.taskclock_pool_name }}\" ";
}
