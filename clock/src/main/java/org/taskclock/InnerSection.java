// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** A section of an account that its thread was in already. The outer one counts the time, once. */
final class InnerSection implements CpuSection {
    private final OuterSection outer;
    /** Among those to use again. */
    InnerSection nextFree;

    /** Only its thread writes. Another that was handed the section sees at least that it was opened. */
    boolean open;

    InnerSection(OuterSection outer) {
        this.outer = outer;
    }

    @Override
    public void close() {
        outer.close(this);
    }
}
