// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** A section nested in another section of the same account and thread. Only the outer section counts the time. */
final class InnerSection implements CpuSection {
    private final OuterSection outer;
    /** The next section in the free list. */
    InnerSection nextFree;

    boolean open;

    InnerSection(OuterSection outer) {
        this.outer = outer;
    }

    @Override
    public void close() {
        outer.close(this);
    }
}
