// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

/** The file format of an export. */
public enum ExportFormat {
    CSV,
    /** An array of objects. */
    JSON,
    PARQUET
}
