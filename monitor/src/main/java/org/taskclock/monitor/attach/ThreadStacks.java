// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.util.List;
import org.taskclock.monitor.usage.ThreadUsage;

/** The stacks of single threads of a JVM. Thread-safe. */
public final class ThreadStacks {
    private static final long TIMEOUT_MILLIS = 10_000;

    private ThreadStacks() {}

    /**
     * Returns the current stack of a thread, as lines of text, from a thread dump, which stops the JVM briefly. For a
     * carrier, this includes the stack of the virtual thread that it carries, if the JVM prints that.
     *
     * @param tid as in {@link ThreadUsage#tid}
     * @throws IOException if there is no stack; the message is the reason
     */
    public static List<String> of(long pid, int tid) throws IOException {
        ThreadDump dump;
        try {
            dump = AttachClient.of(pid).threadDump(TIMEOUT_MILLIS, id -> id == tid, true);
        } catch (IOException e) {
            throw new IOException("process " + pid + " gives no stack: " + e.getMessage(), e);
        }
        ThreadDump.Entry found = dump.of(tid);
        if (found == null) throw new IOException("thread " + tid + " has no Java stack or has ended");
        return found.text().lines().toList();
    }
}
