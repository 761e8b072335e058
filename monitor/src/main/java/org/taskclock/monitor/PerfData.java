// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
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
    private static final int PROLOGUE_BYTES = 32;
    /** The fixed part of an entry, which its name and its value follow. */
    private static final int ENTRY_BYTES = 20;

    private static final String FOLDER = "/hsperfdata_";

    private final RandomAccessFile file;
    private final ByteBuffer data;
    /** The position of each value of type long. */
    private final Map<String, Integer> longs = new HashMap<>();

    private final Map<String, String> texts = new HashMap<>();
    private int entryCount = -1;

    private PerfData(RandomAccessFile file, int size) {
        this.file = file;
        data = ByteBuffer.allocate(size);
    }

    /** Returns the data of a JVM; null if it has none (-XX:-UsePerfData), or may not be read. */
    static PerfData of(long pid) {
        try {
            String path = mappedFile(Files.readString(Path.of("/proc/" + pid + "/maps"), StandardCharsets.ISO_8859_1));
            return path == null ? null : open(Path.of("/proc/" + pid + "/root" + path));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    /**
     * Returns the path of the file that a process has mapped, in its own file system; null if there is none. A file
     * that the process has not mapped may have been left by an earlier process with the same id.
     */
    private static String mappedFile(String maps) {
        int folder = maps.indexOf(FOLDER);
        if (folder < 0) return null;
        int start = maps.lastIndexOf(' ', folder) + 1;
        int end = maps.indexOf('\n', folder);
        return maps.substring(start, end < 0 ? maps.length() : end);
    }

    /** Returns null if the file does not contain performance data. */
    static PerfData open(Path path) throws IOException {
        // The program can replace its file with a pipe, on which opening waits, or with a link out of its container.
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) || Files.isSymbolicLink(path.getParent()))
            return null;
        // Not a FileChannel, which an interrupt of the calling thread would close.
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "r");
        PerfData data = new PerfData(file, (int) Math.min(file.length(), MAX_BYTES));
        if (data.refresh()) return data;
        data.close();
        return null;
    }

    /** Reads the current values. Returns false if the file is damaged. */
    boolean refresh() {
        try {
            file.seek(0);
            data.clear().limit(Math.max(0, file.read(data.array())));
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

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            // Harmless, because the file was only read.
        }
    }
}
