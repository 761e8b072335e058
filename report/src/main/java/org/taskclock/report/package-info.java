// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Renders results of benchmarks and experiments, and recordings of JVMs, as a self-contained HTML page.
 * {@link org.taskclock.report.Result} is the file format of a result; {@link org.taskclock.report.RecordingResults}
 * converts a recording to results; {@link org.taskclock.report.ReportPage} renders results.
 */
package org.taskclock.report;
