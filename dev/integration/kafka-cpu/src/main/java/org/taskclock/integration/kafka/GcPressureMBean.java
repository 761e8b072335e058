// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

/** Switches {@link GcPressure} on and off. */
public interface GcPressureMBean {
    boolean isEnabled();

    void setEnabled(boolean enabled);
}
