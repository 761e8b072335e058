// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * The server behind {@code taskclock serve}: a page that shows the CPU time of all JVMs of this host, their history,
 * and the exporter's metrics. {@link org.taskclock.web.SamplingLoop} reads all JVMs once a second;
 * {@link org.taskclock.web.LiveView} reads all threads of a JVM that a browser shows, or that uses much CPU time.
 */
package org.taskclock.web;
