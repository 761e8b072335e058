// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

/** What {@link HostileRun} checks. */
public enum Check {
    /** Each request is answered within its time. */
    ANSWERS,
    /** CPU times of honest JVMs agree with those of the kernel. */
    FIGURES,
    /** Threads of honest JVMs have their full names. */
    NAMES,
    /** No value is negative or not finite, no JVM uses more CPU time than there is, and kinds of threads are right. */
    VALUES,
    /** Labels and answers are short. */
    SIZES,
    /** Memory, threads, and open files stay below their limits. */
    RESOURCES,
    /** Nothing is read from, written to, or sent because of what does not belong to the JVM. */
    TRUST,
    /** list, top, and check end in time. */
    COMMANDS,
    /** Exporter and serve end on SIGTERM. */
    END,
    /** The hostile JVMs were hostile to the end. */
    SCENARIOS
}
