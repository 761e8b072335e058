// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.Channels;

/** What a JVM answers to an attach command, and properties in it. */
public final class AttachReplyFuzz {
    private AttachReplyFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        try (AttachReply reply = new AttachReply(Channels.newChannel(new ByteArrayInputStream(data)))) {
            reply.property("a");
        } catch (IOException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
    }
}
