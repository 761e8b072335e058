// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.monitor.attach.ThreadDump;

/**
 * The locks in a thread dump: which thread waits for which, and who holds it. The JVM collects a dump in one safepoint,
 * so its parts are consistent. Dumps contain the owners of monitors, but not those of java.util.concurrent locks:
 * finding these requires a walk of the whole heap ({@code jcmd Thread.print -l}), which would stop the JVM for too
 * long.
 */
public final class LockGraph {
    /**
     * The state of a thread in the dump.
     *
     * @param state null if the dump does not contain it
     * @param lockClass the class of the object that it waits for; empty if none
     * @param contended whether it waits to acquire a lock
     */
    public record Wait(Thread.State state, String lockClass, String lockId, boolean contended) {}

    /** A lock with all threads that wait for it. */
    record Contention(String lockClass, String lockId, List<ThreadDump.Entry> waiters, ThreadDump.Entry owner) {}

    private static final String STATE = "java.lang.Thread.State: ";
    private static final String DETAIL = "\n\t- ";
    private static final String NO_ID = "";

    private final Map<Integer, Wait> waits = new HashMap<>();
    private final Map<String, ThreadDump.Entry> owners = new HashMap<>();
    private final Map<String, List<ThreadDump.Entry>> waiters = new LinkedHashMap<>();

    public static LockGraph of(ThreadDump dump) {
        LockGraph graph = new LockGraph();
        for (ThreadDump.Entry entry : dump.all()) graph.add(entry);
        return graph;
    }

    private void add(ThreadDump.Entry entry) {
        String text = entry.text();
        int at = text.indexOf(STATE);
        if (at < 0) return;
        Thread.State state = state(text, at + STATE.length());
        Wait wait = new Wait(state, "", NO_ID, false);
        List<String> held = new ArrayList<>();
        for (int i = text.indexOf(DETAIL, at); i >= 0; i = text.indexOf(DETAIL, i + 1)) {
            int end = text.indexOf('\n', i + 1);
            String detail = text.substring(i + DETAIL.length(), end < 0 ? text.length() : end);
            if (detail.startsWith("locked <0x")) held.add(id(detail));
            else if (wait.lockClass.isEmpty() && (detail.startsWith("waiting ") || detail.startsWith("parking ")))
                wait = parse(state, detail);
        }
        waits.put(entry.tid(), wait);
        if (wait.contended)
            waiters.computeIfAbsent(wait.lockId, id -> new ArrayList<>()).add(entry);
        // In Object.wait, and while it waits to lock a monitor again, a thread does not own the monitor that its
        // outer frames locked.
        for (String id : held) if (!id.equals(wait.lockId)) owners.put(id, entry);
    }

    private static Thread.State state(String text, int start) {
        for (Thread.State state : Thread.State.values()) if (text.startsWith(state.name(), start)) return state;
        return null;
    }

    /** Parses a line such as {@code parking to wait for <0x000000071a2b3c4d> (a java.lang.Object)}. */
    private static Wait parse(Thread.State state, String detail) {
        String lockClass = lockClass(detail);
        if (lockClass.isEmpty()) return new Wait(state, "", NO_ID, false);
        boolean contended = detail.startsWith("waiting to ") || (detail.startsWith("parking ") && isLock(lockClass));
        return new Wait(state, lockClass, id(detail), contended && !id(detail).isEmpty());
    }

    /**
     * Returns whether threads park on objects of this class to acquire a lock. Threads that wait for a condition park
     * on an AbstractQueuedSynchronizer.ConditionObject.
     */
    private static boolean isLock(String name) {
        return name.contains("Lock") && !name.endsWith("ConditionObject");
    }

    private static String id(String detail) {
        int start = detail.indexOf('<');
        int end = detail.indexOf('>', start);
        boolean known = start >= 0 && end > start && detail.startsWith("0x", start + 1);
        return known ? detail.substring(start + 1, end) : NO_ID;
    }

    private static String lockClass(String detail) {
        int start = detail.lastIndexOf("> (a ");
        if (start < 0 || !detail.endsWith(")")) return "";
        String name = detail.substring(start + "> (a ".length(), detail.length() - 1);
        return name.startsWith("java.lang.Class for ")
                ? name.substring("java.lang.Class for ".length()) + ".class"
                : name;
    }

    /** Returns the state of a thread; null if the dump does not contain it. */
    public Wait of(int tid) {
        return waits.get(tid);
    }

    /** Returns the thread that holds a lock; null if unknown. */
    public ThreadDump.Entry ownerOf(String lockId) {
        return lockId.isEmpty() ? null : owners.get(lockId);
    }

    /** Returns the locks that threads wait for. */
    List<Contention> contentions() {
        List<Contention> all = new ArrayList<>();
        waiters.forEach((id, threads) ->
                all.add(new Contention(waits.get(threads.get(0).tid()).lockClass, id, threads, owners.get(id))));
        return all;
    }
}
