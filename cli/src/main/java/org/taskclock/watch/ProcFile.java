// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file of /proc that is read again and again. It stays open, which saves two thirds of the cost, and which makes sure that it is
 * always the same thread's: the kernel answers ESRCH when that has ended, though its id may be another's by then. Beyond what
 * the {@link Budget} allows it is opened each time.
 */
final class ProcFile {
    /** How many files may stay open, and the buffer that all reads share. Of one thread. */
    static final class Budget {
        private static final int BUFFER = 16_384;

        private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
        private int left;
        private boolean interrupted;

        Budget(int files) {
            left = files;
        }

        /** An interrupt closes the file that is being read. It is kept for whoever waits for it. */
        void restoreInterrupt() {
            if (interrupted) Thread.currentThread().interrupt();
            interrupted = false;
        }
    }

    private final Path path;
    private final Budget budget;
    private FileChannel open;
    private boolean ended;

    ProcFile(String path, Budget budget) {
        this.path = Path.of(path);
        this.budget = budget;
    }

    /** The file's text in a buffer that the next read of any file overwrites; null if it cannot be read. */
    ByteBuffer read() {
        if (ended) return null;
        ByteBuffer buffer = budget.buffer;
        for (int attempt = 0; attempt < 3; attempt++) {
            buffer.clear();
            try {
                if (open == null && budget.left > 0) {
                    open = FileChannel.open(path, StandardOpenOption.READ);
                    budget.left--;
                }
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
                ended = true;
                close();
                return null;
            }
        }
        return null;
    }

    /** Copies the text, as far as it fits. Returns its length; -1 if it cannot be read. */
    int read(byte[] into) {
        ByteBuffer text = read();
        if (text == null) return -1;
        int length = Math.min(text.remaining(), into.length);
        text.get(into, 0, length);
        return length;
    }

    void close() {
        if (open == null) return;
        budget.left++;
        try {
            open.close();
        } catch (IOException e) {
            // It was only read from.
        }
        open = null;
    }
}
