// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** The CPU use of a JVM by thread pool, for OpenTelemetry and its Java agent. */
package org.taskclock.opentelemetry;
