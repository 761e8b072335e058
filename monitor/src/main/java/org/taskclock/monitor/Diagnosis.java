// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.util.List;

/**
 * A problem found in an interval.
 *
 * @param kind an identifier for programs, such as yield-storm
 * @param tid the thread concerned; 0 if there is more than one
 * @param text one sentence
 * @param evidence the observations behind it, one per line
 */
public record Diagnosis(String kind, int tid, String text, List<String> evidence) {}
