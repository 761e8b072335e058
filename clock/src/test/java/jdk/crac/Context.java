// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package jdk.crac;

/** The part of CRaC's class that the library uses. */
public abstract class Context<R extends Resource> {
    public abstract void register(R resource);
}
