// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import java.util.List;
import org.taskclock.history.JvmKey;

/**
 * The content of a message: findings of a JVM that last, and those that ended since the previous message.
 *
 * @param omitted the number of further findings
 * @param page the address of the page
 */
record FindingGroup(JvmKey jvm, List<FindingAlert> alerts, int omitted, String page) {
    boolean isFiring() {
        return alerts.stream().anyMatch(FindingAlert::isFiring);
    }
}
