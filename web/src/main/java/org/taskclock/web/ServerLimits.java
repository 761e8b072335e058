// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.WebServer;

/**
 * Limits on the resources that clients may use.
 *
 * @param budget the memory of all answers
 * @param openedBytes the size of all recordings that were dropped on the page
 * @param auditBytes the maximum size of the audit log, and of the previous one
 * @param receiveMillis how long a client may take to send a request
 */
record ServerLimits(RequestBudget budget, long openedBytes, long auditBytes, long receiveMillis) {
    static final long AUDIT_BYTES = 8L << 20;

    static ServerLimits ofHeap() {
        return new ServerLimits(RequestBudget.ofHeap(), 512L << 20, AUDIT_BYTES, WebServer.RECEIVE_MILLIS);
    }
}
