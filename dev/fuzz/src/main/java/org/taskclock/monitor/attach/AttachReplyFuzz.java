// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;

/** What a JVM answers to an attach command, and properties in it. */
public final class AttachReplyFuzz {
    private AttachReplyFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        try {
            AttachReply.properties(AttachReply.text(data));
        } catch (IOException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
    }
}
