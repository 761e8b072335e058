// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** Reads the CPU time of threads and processes on Linux: total, user and system. */
module org.taskclock {
    requires transitive java.management;
    requires transitive jdk.management;
    requires static jdk.jfr;

    exports org.taskclock;
}
