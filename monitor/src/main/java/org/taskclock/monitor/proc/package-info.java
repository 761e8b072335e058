// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** Reads processes from outside: {@code /proc}, and the files of a JVM, which are not trusted. */
package org.taskclock.monitor.proc;
