// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** What threads, pools, and processes use in an interval. Depends on no other package of the monitor. */
package org.taskclock.monitor.usage;
