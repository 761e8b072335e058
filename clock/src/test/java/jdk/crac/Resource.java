// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package jdk.crac;

/** The part of CRaC's interface that the library uses. */
public interface Resource {
    void beforeCheckpoint(Context<? extends Resource> context) throws Exception;

    void afterRestore(Context<? extends Resource> context) throws Exception;
}
