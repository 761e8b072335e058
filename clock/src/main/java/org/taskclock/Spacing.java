// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Keeps what subclasses add apart from the object before it, so that two threads do not write to one line of the cache. */
@SuppressWarnings("UnusedVariable")
abstract class Spacing {
    private long space1;
    private long space2;
    private long space3;
    private long space4;
    private long space5;
    private long space6;
    private long space7;
    private long space8;
}
