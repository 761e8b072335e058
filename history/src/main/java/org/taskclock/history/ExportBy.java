// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

/** The subject of a row of an export. */
public enum ExportBy {
    POOL,
    THREAD,
    ACCOUNT
}
