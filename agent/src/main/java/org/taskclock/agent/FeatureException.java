// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

/** Thrown if a feature of the agent cannot be installed, changed, or removed. The message gives the reason. */
final class FeatureException extends Exception {
    private static final long serialVersionUID = 1;

    FeatureException(String reason) {
        super(reason);
    }

    FeatureException(String reason, Throwable cause) {
        super(reason, cause);
    }

    /** Throws an exception with this reason, unless it is null. */
    static void throwIf(String reason) throws FeatureException {
        if (reason != null) throw new FeatureException(reason);
    }
}
