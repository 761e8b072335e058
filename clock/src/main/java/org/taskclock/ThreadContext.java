// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Publishes what each thread works on, so that profilers outside the process can attach it to their samples: the
 * thread's current account of each type, and the ids of its trace and span. OpenTelemetry's eBPF profiler reads this,
 * as specified by OpenTelemetry's OTEP 4947 (Thread Context) and OTEP 4719 (Process Context).
 *
 * <p>Off unless the JVM runs with {@code -Dtaskclock.thread.context=on}. Each change of a thread's account then takes
 * some 10 ns more. The account of type {@code tenant} becomes the attribute {@code taskclock.account.tenant}. Its value
 * is the name of the account, of which the first {@value ContextRecord#MAX_VALUE} bytes in UTF-8 are published. Six
 * such attributes fit; if there are more, those of types that were used last are left out.
 *
 * <p>A process can have only one publisher. If another library publishes thread or process contexts already, this class
 * publishes none, and {@link #state()} says why. For virtual threads, contexts are published only with TaskClock's
 * agent.
 *
 * <p>Thread-safe. No method throws an exception.
 */
public final class ThreadContext {
    static final String PROPERTY = "taskclock.thread.context";

    /** Constant, so that the JIT compiler removes what is off. */
    private static final boolean IS_REQUESTED = "on".equals(System.getProperty(PROPERTY));

    private static final String ON = "on";
    private static final int ALREADY_PUBLISHED = 17; // EEXIST

    // Elements of the object that all copies of the library share.

    /** A ThreadLocal with the records of platform threads; see {@link ContextRecord}. */
    private static final int RECORDS = 0;
    /** The types whose keys have been published, as a List. A type's index is that of its key. */
    private static final int TYPES = 1;
    /** "on", or the reason why not; null until a copy has tried to start. */
    private static final int STATE = 2;
    /** The records of virtual threads; see {@link VirtualContexts}. */
    private static final int VIRTUAL = 3;

    private static final int LENGTH = 4;

    private ThreadContext() {}

    /**
     * Returns whether contexts are published.
     *
     * @return {@code on}, {@code off}, or {@code off:} and the reason why they cannot be published
     */
    public static String state() {
        return IS_REQUESTED ? Shared.START_STATE : "off";
    }

    /**
     * Returns whether contexts are published. If not, {@link #setTrace} has no effect.
     *
     * @return whether {@link #state()} is {@code on}
     */
    public static boolean isOn() {
        return IS_REQUESTED && Shared.IS_ON;
    }

    /**
     * Publishes the trace and span that the calling thread works on, until the next call on this thread. All ids are
     * those of W3C Trace Context. If the trace id or the span id is 0, there is no span.
     *
     * @param traceIdHigh the first 8 bytes of the trace id
     * @param traceIdLow its last 8 bytes
     * @param spanId the id of the span
     * @param traceFlags the trace flags, of which the lowest 8 bits count
     */
    public static void setTrace(long traceIdHigh, long traceIdLow, long spanId, int traceFlags) {
        if (!isOn()) return;
        Object[] record = ownRecord();
        if (record.length == 0) return;
        if ((traceIdHigh | traceIdLow) == 0 || spanId == 0) ContextRecord.setTrace(record, 0, 0, 0, 0);
        else ContextRecord.setTrace(record, traceIdHigh, traceIdLow, spanId, traceFlags);
        releaseIfUnused(record);
    }

    /** Publishes the current account of the calling thread, whose slot this is. Called when it has changed. */
    static void update(AccountType type, Object[] slot) {
        if (IS_REQUESTED) publish(type, slot);
    }

    private static void publish(AccountType type, Object[] slot) {
        Object[] record = (Object[]) slot[ThreadSlot.CONTEXT];
        if (record == null) {
            record = isOn() ? ownRecord() : ContextRecord.NONE;
            slot[ThreadSlot.CONTEXT] = record;
        }
        if (record.length == 0) return;
        AtomicReferenceArray<Object> account = ThreadSlot.current(slot);
        int key = type.contextKey();
        ContextRecord.setAttribute(record, key, account == null ? null : NamedAccount.attribute(account, key));
        releaseIfUnused(record);
    }

    /** If a virtual thread has no open section, its slots, which refer to the record, are discarded, too. */
    private static void releaseIfUnused(Object[] record) {
        if (ContextRecord.isVirtual(record) && !ContextRecord.isValid(record))
            Shared.VIRTUAL_THREADS.release(Thread.currentThread(), record);
    }

    private static Object[] ownRecord() {
        Thread thread = Thread.currentThread();
        if (ThreadType.isVirtual(thread)) return Shared.VIRTUAL_THREADS.own(thread);
        ThreadLocal<Object[]> records = Shared.records();
        Object[] record = records.get();
        if (record == null) {
            ByteBuffer memory = Library.threadContext();
            record = memory == null ? ContextRecord.NONE : ContextRecord.create(memory);
            records.set(record);
        }
        return record;
    }

    /** Returns the index of a type's key. Publishes the key if it is new. */
    static int key(String type) {
        synchronized (Shared.STATE_OF_PROCESS) {
            List<String> types = Shared.types();
            int key = types.indexOf(type);
            if (key >= 0) return key;
            types.add(type);
            Library.publishContext(ContextKeys.encode(types));
            return types.size() - 1;
        }
    }

    /** Initialized when contexts are first used, because that loads the native library. */
    private static final class Shared {
        static final Object[] STATE_OF_PROCESS = (Object[]) CpuAccounts.shared("context-1", Shared::create);
        static final String START_STATE = start();
        static final boolean IS_ON = START_STATE.equals(ON);
        static final VirtualContexts VIRTUAL_THREADS = new VirtualContexts((Object[]) STATE_OF_PROCESS[VIRTUAL]);

        private static Object[] create() {
            Object[] shared = new Object[LENGTH];
            shared[RECORDS] = new ThreadLocal<Object[]>();
            shared[TYPES] = new ArrayList<String>();
            shared[VIRTUAL] = VirtualContexts.createShared();
            return shared;
        }

        @SuppressWarnings("unchecked")
        static ThreadLocal<Object[]> records() {
            return (ThreadLocal<Object[]>) STATE_OF_PROCESS[RECORDS];
        }

        @SuppressWarnings("unchecked")
        static List<String> types() {
            return (List<String>) STATE_OF_PROCESS[TYPES];
        }

        private static String start() {
            synchronized (STATE_OF_PROCESS) {
                String state = (String) STATE_OF_PROCESS[STATE];
                if (state == null) {
                    String failure = Library.isLoaded() ? tryToStart() : "the native library is not in use";
                    state = failure == null ? ON : "off: " + failure;
                    STATE_OF_PROCESS[STATE] = state;
                }
                return state;
            }
        }

        /** Returns null, or why contexts cannot be published. */
        private static String tryToStart() {
            String other = Library.definesContext();
            if (other != null) return other + " defines otel_thread_ctx_v1 already";
            byte[] keys = ContextKeys.encode(types());
            int error = Library.publishContext(keys);
            if (error == ALREADY_PUBLISHED) return "other code in this process publishes OTEL_CTX already";
            if (error != 0) return "cannot publish OTEL_CTX: errno " + error;
            String failure = Library.loadContext();
            if (failure != null) return failure;
            if (!Library.startContexts()) return "the C library does not list the loaded libraries";
            // Makes readers that have looked for the variable look again.
            Library.publishContext(keys);
            return null;
        }
    }
}
