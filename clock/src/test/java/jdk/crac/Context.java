// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package jdk.crac;

/** As a JDK with CRaC has it, as far as the library uses it. */
public abstract class Context<R extends Resource> {
    public abstract void register(R resource);
}
