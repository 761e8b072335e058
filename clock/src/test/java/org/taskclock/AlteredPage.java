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
 * Main class of child JVMs: maps a page that differs in one field from the page of the first copy of the library. A
 * second copy must find the genuine page. Prints the second copy's {@code status().state()}.
 */
final class AlteredPage {
    private static final int PAGE = 4096;
    private static final int MAX_MAPPINGS = 1_000;

    private AlteredPage() {}

    /** The field that differs. The offsets are those of struct functions in shared.h. */
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
                case IDENTITY -> page.putLong(16, SystemCalls.foreignFunction());
                case FIRST_FUNCTION -> page.putLong(24, SystemCalls.foreignFunction());
                case LAST_FUNCTION -> page.putLong(page.getInt(12) - 8, SystemCalls.foreignFunction());
                case ALL_FUNCTIONS -> {
                    for (int at = 24; at < page.getInt(12); at += 8) page.putLong(at, SystemCalls.foreignFunction());
                }
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        Path jar = Path.of(System.getProperty("test.jar"));
        LibraryCopy first = new LibraryCopy(jar, LibraryCopy.PACKAGE);
        LibraryCopy second = new LibraryCopy(jar, LibraryCopy.PACKAGE);
        ForgedPage.read(first);
        long genuine = pageAddress();
        ByteBuffer page = ByteBuffer.wrap(memoryAt(genuine)).order(ByteOrder.nativeOrder());
        Field.valueOf(arguments[0]).alter(page);
        mapBelow(genuine, page.array());
        ForgedPage.read(second);
        System.out.println(second.status("state"));
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

    /**
     * Maps a page below this address, because the library searches mappings from the lowest address. The kernel usually
     * maps new pages below existing ones.
     */
    private static void mapBelow(long limit, byte[] content) {
        byte[] name = ForgedPage.NAME.getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < MAX_MAPPINGS; i++) {
            long address = SystemCalls.mapMemfd(name, content);
            if (address == 0) throw new AssertionError("the page could not be mapped");
            if (address < limit) return;
        }
        throw new AssertionError("the kernel mapped no page below the genuine one");
    }
}
