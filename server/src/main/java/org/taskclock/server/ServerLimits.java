// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

/**
 * What clients may use of the server.
 *
 * @param budget the memory of all answers
 * @param openedBytes the size of all recordings that were dropped on the page
 * @param auditBytes the size of the audit log and that of the one before it
 */
record ServerLimits(RequestBudget budget, long openedBytes, long auditBytes) {
    static ServerLimits ofHeap() {
        return new ServerLimits(RequestBudget.ofHeap(), 512L << 20, 8L << 20);
    }
}
