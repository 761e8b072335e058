// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Where nothing can be read. The account has noted that. */
final class UncountedSection implements CpuSection {
    static final UncountedSection INSTANCE = new UncountedSection();

    private UncountedSection() {}

    @Override
    public void close() {}
}
