// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** Asks a JVM: the attach protocol, thread dumps, and the agent and its reports. */
package org.taskclock.monitor.attach;
