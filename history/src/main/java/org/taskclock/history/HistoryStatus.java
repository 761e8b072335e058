// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;

/**
 * The state of the history.
 *
 * @param problem why nothing is written at the moment, such as a full disk or a thread that hangs; null if all is well
 * @param bytes the size of the files
 * @param since the time of the oldest row; null if there is none
 * @param setAside the name of the damaged file that was set aside by this process; null if there is none
 * @param lostSamples how many samples could not be kept until they could be written
 */
public record HistoryStatus(String problem, long bytes, Instant since, String setAside, long lostSamples) {}
