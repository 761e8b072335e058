// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Padding that separates the fields of a subclass from the preceding object, so that two threads do not write to the
 * same cache line.
 */
@SuppressWarnings("UnusedVariable")
abstract class CacheLinePadding {
    private long padding1;
    private long padding2;
    private long padding3;
    private long padding4;
    private long padding5;
    private long padding6;
    private long padding7;
    private long padding8;
}
