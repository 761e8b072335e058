// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Main class of child JVMs: maps a page under a given name, as another copy of the library would, or has the kernel
 * refuse memfd_create; then reads the clock and prints {@code status().state()}.
 */
final class ForgedPage {
    /** The name by which copies of the library find each other. */
    static final String NAME = "taskclock-abi2";

    static final int ABI = 2;

    private static final int PAGE = 4096;
    private static final long MAGIC = 0x6b636f6c636b7361L;
    private static final int MFD_NOEXEC_SEAL = 8;
    private static final int EPERM = 1;
    private static final int EINVAL = 22;
    private static final int READS = 200;

    private ForgedPage() {}

    /** What the page contains. */
    enum Content {
        GARBAGE,
        ZEROS,
        /** The file is empty, so looking at the page is a SIGBUS. */
        NOTHING,
        POINTERS_INTO_NOWHERE,
        POINTERS_TO_OTHER_CODE,
        OLDER_ABI,
        NEWER_ABI,
        SHORT_TABLE;

        byte[] bytes() {
            byte[] garbage = new byte[PAGE];
            Arrays.fill(garbage, (byte) 0xa5);
            return switch (this) {
                case GARBAGE -> garbage;
                case ZEROS -> new byte[PAGE];
                case NOTHING -> new byte[0];
                case POINTERS_INTO_NOWHERE -> table(ABI, PAGE, 0xdead0000beefL);
                case POINTERS_TO_OTHER_CODE -> table(ABI, PAGE, Os.forgedFunction());
                case OLDER_ABI -> table(ABI - 1, PAGE, Os.forgedFunction());
                case NEWER_ABI -> table(ABI + 1, PAGE, Os.forgedFunction());
                case SHORT_TABLE -> table(ABI, 16, Os.forgedFunction());
            };
        }

        private static byte[] table(int abi, int size, long pointer) {
            ByteBuffer page = ByteBuffer.allocate(PAGE).order(ByteOrder.nativeOrder());
            page.putLong(MAGIC).putInt(abi).putInt(size);
            while (page.hasRemaining()) page.putLong(pointer);
            return page.array();
        }
    }

    /** Arguments: {@code page NAME CONTENT}, {@code refused} or {@code unsealed}; then {@code twice} for two copies. */
    public static void main(String[] arguments) {
        boolean isDone =
                switch (arguments[0]) {
                    case "page" ->
                        Os.mapNamed(
                                        arguments[1].getBytes(StandardCharsets.US_ASCII),
                                        Content.valueOf(arguments[2]).bytes())
                                != 0;
                    case "refused" -> Os.refuseMemfd(EPERM, 0);
                    case "unsealed" -> Os.refuseMemfd(EINVAL, MFD_NOEXEC_SEAL);
                    default -> false;
                };
        if (!isDone) throw new AssertionError(Arrays.toString(arguments));
        if (arguments[arguments.length - 1].equals("twice")) readByTwoCopies();
        else readByThis();
    }

    private static void readByThis() {
        CpuTime last = TaskClock.now();
        for (int i = 0; i < READS; i++) {
            long before = Os.threadCpuNanos();
            CpuTime now = TaskClock.now();
            check(now.cpuNanos(), before);
            if (now.userNanos() < last.userNanos() || now.systemNanos() < last.systemNanos()) {
                throw new AssertionError(last + " then " + now);
            }
            last = now;
        }
        System.out.println(TaskClock.status().state());
    }

    private static void readByTwoCopies() {
        Path jar = Path.of(System.getProperty("test.jar"));
        for (Copy copy : new Copy[] {new Copy(jar, Copy.PACKAGE), new Copy(jar, Copy.PACKAGE)}) {
            read(copy);
            System.out.println(copy.status("state"));
        }
    }

    static void read(Copy copy) {
        for (int i = 0; i < READS; i++) {
            long before = Os.threadCpuNanos();
            check(copy.cpuNanos(), before);
        }
    }

    /** A forged function returns something else than the time. */
    private static void check(long cpu, long before) {
        long after = Os.threadCpuNanos();
        if (cpu < before - Observer.MOST_BEHIND_NANOS || cpu > after + Observer.LONGEST_LIFE_NANOS) {
            throw new AssertionError(cpu + " is not between " + before + " and " + after);
        }
    }
}
