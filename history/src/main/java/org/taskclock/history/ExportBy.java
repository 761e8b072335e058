// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

/** What one row of an export is about. */
public enum ExportBy {
    POOL,
    THREAD
}
