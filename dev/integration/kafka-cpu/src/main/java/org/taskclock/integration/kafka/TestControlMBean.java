// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.util.Map;

/** Reads the accounts of the broker, and switches the pressure on its heap; see {@link TestControl}. */
public interface TestControlMBean {
    /** Returns the CPU time of the accounts in nanoseconds, by type and name. */
    Map<String, Map<String, Long>> getAccounts();

    boolean isGcPressure();

    void setGcPressure(boolean on);
}
