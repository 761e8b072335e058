// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package jdk.crac;

/** As a JDK with CRaC has it, as far as the library uses it. */
public interface Resource {
    void beforeCheckpoint(Context<? extends Resource> context) throws Exception;

    void afterRestore(Context<? extends Resource> context) throws Exception;
}
