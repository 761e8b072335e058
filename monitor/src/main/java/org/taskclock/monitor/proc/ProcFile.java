// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A /proc file that is read repeatedly. It stays open, which saves two thirds of the cost and ensures that it always
 * belongs to the same thread: once the thread has ended, the kernel returns ESRCH, even if the thread id has been
 * reused. Files beyond the {@link Budget} are opened for each read.
 */
public final class ProcFile {
    /** The number of files that may stay open, and the buffer that all reads share. Confined to one thread. */
    public static final class Budget {
        private static final int BUFFER_BYTES = 16_384;

        /**
         * The files that this process may still keep open, for all budgets. Half of its limit is for everything else: a
         * JVM with many threads must not use up what connections and other JVMs need.
         */
        private static final AtomicInteger SHARED = new AtomicInteger(openFileLimit() / 2);

        private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        private int remaining;
        private boolean interrupted;

        /** Creates a budget without a limit of its own. */
        public Budget() {
            this(Integer.MAX_VALUE);
        }

        public Budget(int files) {
            remaining = files;
        }

        private boolean take() {
            if (remaining == 0 || SHARED.getAndUpdate(n -> n > 0 ? n - 1 : n) == 0) return false;
            remaining--;
            return true;
        }

        private void giveBack() {
            remaining++;
            SHARED.incrementAndGet();
        }

        private static int openFileLimit() {
            try (var lines = Files.lines(Path.of("/proc/self/limits"))) {
                String line = lines.filter(l -> l.startsWith("Max open files"))
                        .findFirst()
                        .orElse("");
                String soft = line.substring("Max open files".length()).strip().split(" ", 2)[0];
                return soft.equals("unlimited") ? Integer.MAX_VALUE : Integer.parseInt(soft);
            } catch (IOException | RuntimeException e) {
                return 1_024;
            }
        }

        /** Restores the thread's interrupt status if an interrupt closed a file, so that the caller can see it. */
        public void restoreInterrupt() {
            if (interrupted) Thread.currentThread().interrupt();
            interrupted = false;
        }
    }

    private final Path path;
    private final Budget budget;
    private FileChannel open;
    private boolean ended;

    public ProcFile(String path, Budget budget) {
        this.path = Path.of(path);
        this.budget = budget;
    }

    /** Returns the text in a buffer that the next read of any file overwrites; null if the file cannot be read. */
    public ByteBuffer read() {
        if (ended) return null;
        ByteBuffer buffer = budget.buffer;
        for (int attempt = 0; attempt < 3; attempt++) {
            buffer.clear();
            try {
                if (open == null && budget.take()) open();
                if (open != null) {
                    open.read(buffer, 0);
                } else {
                    try (FileChannel once = FileChannel.open(path, StandardOpenOption.READ)) {
                        once.read(buffer, 0);
                    }
                }
                return buffer.flip();
            } catch (ClosedChannelException e) {
                budget.interrupted |= Thread.interrupted();
                close();
            } catch (IOException e) {
                // Any other failure to open the file, such as too many open files, may be temporary.
                ended = !(e instanceof FileSystemException) || e instanceof NoSuchFileException;
                close();
                return null;
            }
        }
        return null;
    }

    private void open() throws IOException {
        try {
            open = FileChannel.open(path, StandardOpenOption.READ);
        } finally {
            if (open == null) budget.giveBack();
        }
    }

    /** Returns whether the last read has shown that the thread or process has ended. */
    boolean hasEnded() {
        return ended;
    }

    /** Copies as much of the text as fits. Returns its length; -1 if the file cannot be read. */
    public int read(byte[] into) {
        ByteBuffer text = read();
        if (text == null) return -1;
        int length = Math.min(text.remaining(), into.length);
        text.get(into, 0, length);
        return length;
    }

    public void close() {
        if (open == null) return;
        budget.giveBack();
        try {
            open.close();
        } catch (IOException e) {
            // Harmless, because the file was only read.
        }
        open = null;
    }
}
