// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** Records intervals to a file, reads them back, and compares them. */
package org.taskclock.monitor.recording;
