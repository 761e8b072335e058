// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A JVM's performance data file, /tmp/hsperfdata_USER/PID, which jstat also reads
 * (src/hotspot/share/runtime/perfData.hpp and perfMemory.hpp). The JVM keeps it in memory and updates it without being
 * asked, so reading it does not affect the JVM. The file is read rather than mapped: access to a mapped file fails if
 * another process truncates it.
 */
final class PerfData implements AutoCloseable {
    private static final int MAGIC = 0xcafec0c0;
    private static final int MAX_BYTES = 16 << 20;

    /**
     * The JVM has the file in memory, so that reading it takes less than 1 ms. Whoever shows it does not wait longer.
     */
    private static final long REFRESH_MILLIS = 300;

    private static final int PROLOGUE_BYTES = 32;
    /** The fixed part of an entry, which its name and its value follow. */
    private static final int ENTRY_BYTES = 20;

    private static final String FOLDER = "/hsperfdata_";

    private final long pid;
    private final SeekableByteChannel file;
    private final ByteBuffer data;
    /** The position of each value of type long. */
    private final Map<String, Integer> longs = new HashMap<>();

    private final Map<String, String> texts = new HashMap<>();
    private int entryCount = -1;

    private PerfData(long pid, SeekableByteChannel file, int size) {
        this.pid = pid;
        this.file = file;
        data = ByteBuffer.allocate(size);
    }

    /** Returns the data of a JVM; null if it has none (-XX:-UsePerfData), or may not be read. */
    static PerfData of(long pid) {
        try {
            // A file that the process has not mapped may have been left by an earlier process with the same id.
            String path = TargetMemory.mappedFile(pid, FOLDER);
            return path == null ? null : open(pid, path);
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    /** Returns null if a file of ours does not contain performance data. */
    static PerfData open(Path path) throws IOException {
        return open(ProcessHandle.current().pid(), path.toString());
    }

    /** Returns null if the file of a process is a link or a pipe, or does not contain performance data. */
    private static PerfData open(long pid, String path) throws IOException {
        SeekableByteChannel file;
        try {
            file = TargetFiles.of(pid).open(path);
        } catch (FileSystemException e) {
            return null;
        }
        boolean isOpen = false;
        try {
            int size = TargetWorkers.call(pid, () -> (int) Math.min(file.size(), MAX_BYTES));
            PerfData data = new PerfData(pid, file, size);
            isOpen = data.refresh();
            return isOpen ? data : null;
        } finally {
            if (!isOpen) close(pid, file);
        }
    }

    /** Reads the current values. Returns false if the file is damaged. */
    boolean refresh() {
        try {
            // Into a buffer of its own, because a read that takes too long goes on.
            byte[] content = TargetWorkers.call(pid, REFRESH_MILLIS, this::content);
            data.clear().put(content).flip();
            if (data.limit() < PROLOGUE_BYTES
                    || data.order(ByteOrder.BIG_ENDIAN).getInt(0) != MAGIC) return false;
            data.order(data.get(4) == 0 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
            boolean accessible = data.get(7) != 0;
            if (!accessible) return false;
            // Entries are only ever added.
            if (data.getInt(28) != entryCount) parseEntries();
            return true;
        } catch (IOException | IndexOutOfBoundsException e) {
            return false;
        }
    }

    private void parseEntries() {
        longs.clear();
        texts.clear();
        int count = data.getInt(28);
        int entry = data.getInt(24);
        for (int i = 0; i < count; i++) {
            int length = data.getInt(entry);
            // Otherwise, a small file could have many entries that overlap, each with a long text.
            if (length < ENTRY_BYTES) throw new IndexOutOfBoundsException(length);
            Objects.checkFromIndexSize(entry, length, data.limit());
            int name = Objects.checkIndex(data.getInt(entry + 4), length);
            int vectorLength = data.getInt(entry + 8);
            byte type = data.get(entry + 12);
            int value = data.getInt(entry + 16);
            Objects.checkFromIndexSize(value, vectorLength, length);
            String key = text(entry + name, entry + length);
            if (vectorLength == 0 && type == 'J') longs.put(key, entry + value);
            else if (type == 'B') texts.put(key, text(entry + value, entry + value + vectorLength));
            entry += length;
        }
        entryCount = count;
    }

    private String text(int start, int maxEnd) {
        int end = start;
        while (end < maxEnd && data.get(end) != 0) end++;
        return new String(data.array(), start, end - start, StandardCharsets.UTF_8);
    }

    /** Returns a value as of the last {@link #refresh}; -1 if there is none. */
    long value(String name) {
        Integer at = longs.get(name);
        return at == null || at > data.limit() - Long.BYTES ? -1 : data.getLong(at);
    }

    /** Returns a text as of the last change of the number of entries; empty if there is none. */
    String text(String name) {
        return texts.getOrDefault(name, "");
    }

    private byte[] content() throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(data.capacity());
        file.position(0);
        int read;
        do {
            read = file.read(buffer);
        } while (read > 0);
        return Arrays.copyOf(buffer.array(), buffer.position());
    }

    @Override
    public void close() {
        close(pid, file);
    }

    private static void close(long pid, SeekableByteChannel file) {
        try {
            TargetWorkers.call(pid, () -> {
                file.close();
                return null;
            });
        } catch (IOException e) {
            // Harmless, because the file was only read.
        }
    }
}
