// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.util.List;

/**
 * Something that is wrong, in words.
 *
 * @param kind a word for programs, as yield-storm
 * @param tid the thread that it is about; 0 if it is about more than one
 * @param text one sentence
 * @param evidence what it rests on, a line each
 */
public record Diagnosis(String kind, int tid, String text, List<String> evidence) {}
