// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The records of virtual threads, which a thread has while it has an open section or a span. The agent makes profilers
 * find them while their threads are mounted. Without the agent, virtual threads have none. All copies of the library
 * share these objects, so they are JDK classes.
 */
final class VirtualContexts {
    /** The size of a record. */
    static final int RECORD_BYTES = 640;

    private static final int RECORDS_AT_ONCE = 100;
    private static final int MIN_SWEEP_THRESHOLD = 64;

    /** {@code TaskClockHooks.setContext}; null until an agent is loaded. */
    private static volatile MethodHandle hook;

    private final ConcurrentHashMap<Thread, Object[]> records;
    /** Those that no thread has. Their memory is never freed. */
    private final ConcurrentLinkedQueue<Object[]> free;

    private volatile int sweepThreshold = MIN_SWEEP_THRESHOLD;

    @SuppressWarnings("unchecked")
    VirtualContexts(Object[] shared) {
        records = (ConcurrentHashMap<Thread, Object[]>) shared[0];
        free = (ConcurrentLinkedQueue<Object[]>) shared[1];
    }

    static Object[] createShared() {
        return new Object[] {new ConcurrentHashMap<Thread, Object[]>(), new ConcurrentLinkedQueue<Object[]>()};
    }

    /** Returns the record of the calling virtual thread, or {@link ContextRecord#NONE}. */
    Object[] own(Thread thread) {
        Object[] record = records.get(thread);
        return record == null ? open(thread) : record;
    }

    private Object[] open(Thread thread) {
        MethodHandle handle = hook();
        if (handle == null) return ContextRecord.NONE;
        if (records.size() >= sweepThreshold) sweep();
        Object[] record = take();
        if (record.length == 0) return record;
        if (!setContext(handle, ContextRecord.address(record))) {
            free.add(record);
            return ContextRecord.NONE;
        }
        records.put(thread, record);
        return record;
    }

    private Object[] take() {
        Object[] record = free.poll();
        if (record != null) return record;
        ByteBuffer memory = Library.mapContexts(RECORDS_AT_ONCE);
        if (memory == null) return ContextRecord.NONE;
        long address = Library.addressOf(memory);
        for (int offset = RECORD_BYTES; offset < memory.capacity(); offset += RECORD_BYTES)
            free.add(ContextRecord.create(memory.slice(offset, RECORD_BYTES), address + offset));
        return ContextRecord.create(memory.slice(0, RECORD_BYTES), address);
    }

    /** Gives back the record of the calling virtual thread, which is empty. */
    void release(Thread thread, Object[] record) {
        MethodHandle handle = hook();
        if (handle == null || !setContext(handle, 0)) return;
        records.remove(thread);
        free.add(record);
    }

    /** Takes the records of ended threads that have left a section open. */
    private void sweep() {
        records.forEach((thread, record) -> {
            if (thread.isAlive() || !records.remove(thread, record)) return;
            ContextRecord.clear(record);
            free.add(record);
        });
        sweepThreshold = Math.max(MIN_SWEEP_THRESHOLD, 2 * records.size());
    }

    private static boolean setContext(MethodHandle handle, long record) {
        try {
            return (boolean) handle.invokeExact(record);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle hook() {
        MethodHandle found = hook;
        return found == null ? findHook() : found;
    }

    private static MethodHandle findHook() {
        if (!Library.hasCarriers()) return null;
        try {
            Class<?> hooks = Class.forName("java.lang.TaskClockHooks", false, null);
            MethodType type = MethodType.methodType(boolean.class, long.class);
            MethodHandle found = MethodHandles.publicLookup().findStatic(hooks, "setContext", type);
            hook = found;
            return found;
        } catch (ReflectiveOperationException e) {
            return null; // an agent of another version
        }
    }
}
