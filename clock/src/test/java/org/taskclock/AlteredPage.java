// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Main class of child JVMs: maps a second page that differs in one field from the page of a first copy of the library.
 * A later copy must find the genuine one; prints its {@code status().state()}.
 */
final class AlteredPage {
    private static final int PAGE = 4096;
    private static final int MOST_MAPPED = 1_000;

    private AlteredPage() {}

    /** The field that differs; the offsets are those of struct functions in taskclock.h. */
    enum Field {
        MAGIC,
        ABI,
        SIZE,
        IDENTITY,
        FIRST_FUNCTION,
        LAST_FUNCTION,
        ALL_FUNCTIONS;

        void alter(ByteBuffer page) {
            switch (this) {
                case MAGIC -> page.putLong(0, page.getLong(0) ^ 1);
                case ABI -> page.putInt(8, page.getInt(8) + 1);
                case SIZE -> page.putInt(12, 24);
                case IDENTITY -> page.putLong(16, Os.forgedFunction());
                case FIRST_FUNCTION -> page.putLong(24, Os.forgedFunction());
                case LAST_FUNCTION -> page.putLong(page.getInt(12) - 8, Os.forgedFunction());
                case ALL_FUNCTIONS -> {
                    for (int at = 24; at < page.getInt(12); at += 8) page.putLong(at, Os.forgedFunction());
                }
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        Path jar = Path.of(System.getProperty("test.jar"));
        Copy first = new Copy(jar, Copy.PACKAGE);
        Copy later = new Copy(jar, Copy.PACKAGE);
        ForgedPage.read(first);
        long genuine = pageAddress();
        ByteBuffer page = ByteBuffer.wrap(memoryAt(genuine)).order(ByteOrder.nativeOrder());
        Field.valueOf(arguments[0]).alter(page);
        mapBelow(genuine, page.array());
        ForgedPage.read(later);
        System.out.println(later.status("state"));
    }

    private static long pageAddress() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(mapping -> mapping.endsWith(" /memfd:" + ForgedPage.NAME + " (deleted)"))
                .findFirst()
                .orElseThrow();
        return Long.parseUnsignedLong(line.substring(0, line.indexOf('-')), 16);
    }

    private static byte[] memoryAt(long address) throws IOException {
        byte[] bytes = new byte[PAGE];
        try (RandomAccessFile memory = new RandomAccessFile("/proc/self/mem", "r")) {
            memory.seek(address);
            memory.readFully(bytes);
        }
        return bytes;
    }

    /** Mappings are searched from the lowest address on; the kernel usually places later ones below earlier ones. */
    private static void mapBelow(long limit, byte[] content) {
        byte[] name = ForgedPage.NAME.getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < MOST_MAPPED; i++) {
            long address = Os.mapNamed(name, content);
            if (address == 0) throw new AssertionError("cannot be mapped");
            if (address < limit) return;
        }
        throw new AssertionError("mapped above only");
    }
}
