// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What profilers read about a thread, in native memory, in the format of OpenTelemetry's OTEP 4947. All copies of the
 * library in a process share these records, so each is an array of JDK classes.
 *
 * <p>Only the thread writes its record. Readers stop the thread and ignore a record that is not valid, so each change
 * makes the record invalid first. The order of the writes matters only between the thread and what interrupts it.
 */
final class ContextRecord {
    /** For threads without a record. */
    static final Object[] NONE = {};

    /** The longest value of an attribute, in bytes. Six attributes of that length fit. */
    static final int MAX_VALUE = 100;

    // Elements of the array.

    private static final int MEMORY = 0;
    /** The thread's current attributes by key, encoded, as a byte[][]. */
    private static final int ATTRIBUTES = 1;
    /** The address of the memory, as a Long; only for virtual threads. */
    private static final int ADDRESS = 2;

    // Offsets in the record. Numbers are in the byte order of the processor, ids in that of W3C Trace Context.

    private static final int TRACE_ID_HIGH = 0;
    private static final int TRACE_ID_LOW = 8;
    private static final int SPAN_ID = 16;
    private static final int VALID = 24;
    private static final int TRACE_FLAGS = 25;
    private static final int ATTRIBUTES_LENGTH = 26;
    private static final int FIRST_ATTRIBUTE = 28;

    private ContextRecord() {}

    static Object[] create(ByteBuffer memory) {
        return new Object[] {memory, new byte[1][]};
    }

    /** Creates a record for virtual threads. */
    static Object[] create(ByteBuffer memory, long address) {
        return new Object[] {memory, new byte[1][], address};
    }

    static boolean isVirtual(Object[] record) {
        return record.length > ADDRESS;
    }

    static long address(Object[] record) {
        return (long) record[ADDRESS];
    }

    static boolean isValid(Object[] record) {
        return ((ByteBuffer) record[MEMORY]).get(VALID) != 0;
    }

    /** Makes a record empty whose thread has ended. */
    static void clear(Object[] record) {
        ByteBuffer memory = (ByteBuffer) record[MEMORY];
        begin(memory);
        Arrays.fill((byte[][]) record[ATTRIBUTES], null);
        memory.putShort(ATTRIBUTES_LENGTH, (short) 0);
        memory.putLong(SPAN_ID, 0);
        memory.putLong(TRACE_ID_LOW, 0);
        memory.putLong(TRACE_ID_HIGH, 0);
        memory.put(TRACE_FLAGS, (byte) 0);
    }

    /** Encodes an attribute: its key, the length of its value, and the value. */
    static byte[] encode(int key, String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(utf8.length, MAX_VALUE);
        while (length < utf8.length && isInsideCharacter(utf8[length])) length--;
        byte[] attribute = new byte[2 + length];
        attribute[0] = (byte) key;
        attribute[1] = (byte) length;
        System.arraycopy(utf8, 0, attribute, 2, length);
        return attribute;
    }

    private static boolean isInsideCharacter(byte utf8) {
        return (utf8 & 0xc0) == 0x80;
    }

    /** Sets the attribute with a key; null removes it. */
    static void setAttribute(Object[] record, int key, byte[] attribute) {
        byte[][] attributes = (byte[][]) record[ATTRIBUTES];
        if (key >= attributes.length) {
            attributes = Arrays.copyOf(attributes, key + 1);
            record[ATTRIBUTES] = attributes;
        }
        if (attributes[key] == attribute) return;
        attributes[key] = attribute;
        ByteBuffer memory = (ByteBuffer) record[MEMORY];
        begin(memory);
        int end = FIRST_ATTRIBUTE;
        for (byte[] next : attributes) {
            if (next == null || next.length > memory.capacity() - end) continue;
            memory.put(end, next);
            end += next.length;
        }
        // The library exists only for little-endian processors.
        memory.putShort(ATTRIBUTES_LENGTH, Short.reverseBytes((short) (end - FIRST_ATTRIBUTE)));
        end(memory);
    }

    static void setTrace(Object[] record, long traceIdHigh, long traceIdLow, long spanId, int traceFlags) {
        ByteBuffer memory = (ByteBuffer) record[MEMORY];
        begin(memory);
        memory.putLong(TRACE_ID_HIGH, traceIdHigh);
        memory.putLong(TRACE_ID_LOW, traceIdLow);
        memory.putLong(SPAN_ID, spanId);
        memory.put(TRACE_FLAGS, (byte) traceFlags);
        end(memory);
    }

    private static void begin(ByteBuffer memory) {
        memory.put(VALID, (byte) 0);
        VarHandle.storeStoreFence();
    }

    /** Makes the record valid unless it says nothing. */
    private static void end(ByteBuffer memory) {
        boolean isEmpty = memory.getShort(ATTRIBUTES_LENGTH) == 0 && memory.getLong(SPAN_ID) == 0;
        VarHandle.storeStoreFence();
        memory.put(VALID, (byte) (isEmpty ? 0 : 1));
    }
}
