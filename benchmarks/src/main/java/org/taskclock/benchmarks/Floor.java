// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.taskclock.ClockId;

/** What a snapshot of all threads costs the kernel: its system calls, made one after another in C. */
final class Floor {
    private static final String FILE = "libfloor.so";

    static {
        load();
    }

    private Floor() {}

    /** The clock ids of these threads, as {@link #snapshot} takes them. */
    static ByteBuffer clockIds(int[] tids, int count) {
        ByteBuffer ids = ByteBuffer.allocateDirect(count * Integer.BYTES).order(ByteOrder.nativeOrder());
        for (int i = 0; i < count; i++) {
            ids.putInt(ClockId.thread(tids[i], ClockId.Kind.SCHED).encode());
        }
        return ids;
    }

    /** Lists this process's threads and reads these clocks. Returns how many could be read, -1 if there is no list. */
    static native int snapshot(ByteBuffer ids, int count);

    /** For other classes whose native methods are in the library: loads it, where it is not yet. */
    static void ensureLoaded() {}

    private static void load() {
        try (InputStream library = Floor.class.getResourceAsStream(FILE)) {
            if (library == null)
                throw new IllegalStateException(FILE + " was not built: it is for Linux on x86_64 only");
            Path copy = Files.createTempFile("floor-", ".so");
            Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toString());
            Files.delete(copy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
