// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** The CPU use of a JVM by thread pool, for Micrometer and Spring Boot. */
package org.taskclock.micrometer;
