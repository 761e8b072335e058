// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.time.Instant;

/**
 * An event shown in the history.
 *
 * @param jvmId the {@link JvmKey#id}; null if it concerns the host
 * @param kind such as {@code start}, {@code end}, {@code finding}, {@code attach}, {@code detach}, {@code deployment},
 *     or {@code user}
 */
public record Mark(Instant time, String jvmId, String kind, String text) {}
