// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.taskclock.metrics.ProcText;
import org.taskclock.metrics.ThreadSampler;
import org.taskclock.monitor.proc.ProcFile;

/** How the threads of another process are read. Confined to one thread at a time. */
public final class ProcThreads {
    final int pid;
    final ProcFile.Budget files;

    /** The last file that was not read from {@link #files}. */
    final byte[] text;

    private final ByteBuffer view;

    /** Whether all files stay open, and not only those that are read often. */
    final boolean keepsOpen;

    /** Whether the kernel measures the CPU time of threads, and does not only count ticks. */
    final boolean precise;

    /**
     * Creates a source for one process.
     *
     * @param text is overwritten by each reading
     * @param keepsOpen whether all threads are read each time, so that their files should stay open
     */
    public ProcThreads(int pid, ProcFile.Budget files, byte[] text, boolean keepsOpen) {
        this.pid = pid;
        this.files = files;
        this.text = text;
        this.keepsOpen = keepsOpen;
        view = ByteBuffer.wrap(text);
        ByteBuffer leader = readOnce("/proc/" + pid + "/task/" + pid + "/schedstat");
        // The file has only zeros if the kernel does not maintain it.
        precise = leader != null && ProcText.number(leader) > 0;
    }

    /** Returns a sampler of these threads. {@code onEnd} receives those that have ended. */
    public ThreadSampler<ProcThread> sampler(Consumer<ProcThread> onEnd) {
        return new ThreadSampler<>(tid -> new ProcThread(tid, this), onEnd);
    }

    /** Reads a file; null if that is not possible. FileInputStream takes less time than a channel. */
    public ByteBuffer readOnce(String path) {
        try (FileInputStream in = new FileInputStream(path)) {
            int length = in.read(text);
            return length <= 0 ? null : view.clear().limit(length);
        } catch (IOException e) {
            return null;
        }
    }
}
