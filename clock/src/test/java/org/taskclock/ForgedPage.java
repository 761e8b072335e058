// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Main class of child JVMs: maps a page with a given name, as another copy of the library would, or makes the kernel
 * deny memfd_create. Then reads the clock and prints {@code status().state()}.
 */
final class ForgedPage {
    /** The name by which copies of the library find each other. */
    static final String NAME = "taskclock-abi4";

    static final int ABI = 4;

    private static final int PAGE = 4096;
    private static final long MAGIC = 0x6b636f6c636b7361L;
    private static final int MFD_NOEXEC_SEAL = 8;
    private static final int EPERM = 1;
    private static final int EINVAL = 22;
    private static final int READS = 200;
    private static final String TWICE = "twice";

    private ForgedPage() {}

    /** The content of the page. */
    enum Content {
        GARBAGE,
        ZEROS,
        /** The file is empty, so reading the page raises SIGBUS. */
        EMPTY,
        INVALID_POINTERS,
        POINTERS_TO_FOREIGN_CODE,
        OLDER_ABI,
        NEWER_ABI,
        SHORT_TABLE;

        byte[] bytes() {
            byte[] garbage = new byte[PAGE];
            Arrays.fill(garbage, (byte) 0xa5);
            return switch (this) {
                case GARBAGE -> garbage;
                case ZEROS -> new byte[PAGE];
                case EMPTY -> new byte[0];
                case INVALID_POINTERS -> table(ABI, PAGE, 0xdead0000beefL);
                case POINTERS_TO_FOREIGN_CODE -> table(ABI, PAGE, SystemCalls.foreignFunction());
                case OLDER_ABI -> table(ABI - 1, PAGE, SystemCalls.foreignFunction());
                case NEWER_ABI -> table(ABI + 1, PAGE, SystemCalls.foreignFunction());
                case SHORT_TABLE -> table(ABI, 16, SystemCalls.foreignFunction());
            };
        }

        private static byte[] table(int abi, int size, long pointer) {
            ByteBuffer page = ByteBuffer.allocate(PAGE).order(ByteOrder.nativeOrder());
            page.putLong(MAGIC).putInt(abi).putInt(size);
            while (page.hasRemaining()) page.putLong(pointer);
            return page.array();
        }
    }

    /**
     * Takes the arguments {@code page NAME CONTENT...}, {@code denied}, or {@code unsealed}, followed by {@code twice}
     * to use two copies.
     */
    public static void main(String[] arguments) {
        boolean isPrepared =
                switch (arguments[0]) {
                    case "page" -> mapPages(arguments);
                    case "denied" -> SystemCalls.denyMemfd(EPERM, 0);
                    case "unsealed" -> SystemCalls.denyMemfd(EINVAL, MFD_NOEXEC_SEAL);
                    default -> false;
                };
        if (!isPrepared) throw new AssertionError(Arrays.toString(arguments));
        if (arguments[arguments.length - 1].equals(TWICE)) readWithTwoCopies();
        else readWithThisCopy();
    }

    private static boolean mapPages(String[] arguments) {
        byte[] name = arguments[1].getBytes(StandardCharsets.US_ASCII);
        return Arrays.stream(arguments)
                .skip(2)
                .filter(argument -> !argument.equals(TWICE))
                .allMatch(content ->
                        SystemCalls.mapMemfd(name, Content.valueOf(content).bytes()) != 0);
    }

    private static void readWithThisCopy() {
        CpuTime last = TaskClock.now();
        for (int i = 0; i < READS; i++) {
            long before = SystemCalls.threadCpuNanos();
            CpuTime now = TaskClock.now();
            check(now.cpuNanos(), before);
            if (now.userNanos() < last.userNanos() || now.systemNanos() < last.systemNanos()) {
                throw new AssertionError(last + " then " + now);
            }
            last = now;
        }
        System.out.println(TaskClock.status().state());
    }

    private static void readWithTwoCopies() {
        Path jar = Path.of(System.getProperty("test.jar"));
        LibraryCopy first = new LibraryCopy(jar, LibraryCopy.PACKAGE);
        LibraryCopy second = new LibraryCopy(jar, LibraryCopy.PACKAGE);
        for (LibraryCopy copy : new LibraryCopy[] {first, second}) {
            read(copy);
            System.out.println(copy.status("state"));
        }
    }

    static void read(LibraryCopy copy) {
        for (int i = 0; i < READS; i++) {
            long before = SystemCalls.threadCpuNanos();
            check(copy.cpuNanos(), before);
        }
    }

    /** Fails if a foreign function was called, because it does not return the time. */
    private static void check(long cpu, long before) {
        long after = SystemCalls.threadCpuNanos();
        if (cpu < before - ContractVerifier.MAX_LAG_NANOS || cpu > after + ContractVerifier.MAX_BASE_LIFE_NANOS) {
            throw new AssertionError(cpu + " is not between " + before + " and " + after);
        }
    }
}
