// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** The CPU time of a JVM by thread pool, as counters. */
module org.taskclock.metrics {
    requires transitive org.taskclock;

    exports org.taskclock.metrics;
}
