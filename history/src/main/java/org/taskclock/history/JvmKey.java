// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;

/**
 * The identity of a JVM in the history.
 *
 * @param id unique on this host and stable for the life of the JVM, such as {@code 4711-1763841000}: process id and
 *     start time in epoch seconds
 * @param host the name of the host
 * @param service the display name
 * @param command the main class or jar
 * @param containerId null if it is not in a container
 * @param podUid null if it is not in a Kubernetes pod
 */
public record JvmKey(
        String id,
        String host,
        long pid,
        String service,
        String command,
        String containerId,
        String podUid,
        Instant started) {}
