// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
/**
 * The history of threads' CPU use in an embedded database: {@link org.taskclock.history.DuckDbHistory} stores what is
 * measured and answers questions about the past.
 */
package org.taskclock.history;
