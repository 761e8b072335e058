// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** A section that cannot be counted. The account has already recorded that. */
final class UncountedSection implements CpuSection {
    static final UncountedSection INSTANCE = new UncountedSection();

    private UncountedSection() {}

    @Override
    public void close() {}
}
