// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.taskclock.PoolName;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** The threads to profile. */
public final class ProfileSelection {
    private static final int MAX_LISTED = 5;

    private enum Kind {
        ALL,
        THREAD,
        POOL,
        CARRIERS
    }

    private final Kind kind;
    private final String text;

    // As of resolve().
    private final Set<Integer> tids = new HashSet<>();
    private final Set<Long> javaIds = new HashSet<>();
    private String pool = "";
    private boolean hasCarriers;
    private boolean hasJavaThreads;

    private ProfileSelection(Kind kind, String text) {
        this.kind = kind;
        this.text = text;
    }

    public static ProfileSelection all() {
        return new ProfileSelection(Kind.ALL, "");
    }

    /** Selects a thread by its id as in {@link ThreadUsage#tid}, its name, or a part of its name. */
    public static ProfileSelection thread(String nameOrTid) {
        return new ProfileSelection(Kind.THREAD, nameOrTid);
    }

    /** Selects a pool by its name as in {@link ThreadUsage#pool}, a part of it, or the name of one of its threads. */
    public static ProfileSelection pool(String name) {
        return new ProfileSelection(Kind.POOL, name);
    }

    /** Selects the threads that carry virtual threads. */
    public static ProfileSelection carriers() {
        return new ProfileSelection(Kind.CARRIERS, "");
    }

    /** Finds the selected threads among those of the JVM. Returns a description of them. */
    String resolve(long pid, List<ThreadUsage> all) throws ProfileException {
        List<ThreadUsage> threads =
                all.stream().filter(thread -> thread.tid() != 0).toList();
        List<ThreadUsage> found =
                switch (kind) {
                    case ALL -> threads;
                    case CARRIERS ->
                        threads.stream().filter(ProfileSelection::isCarrier).toList();
                    case THREAD -> findThreads(pid, threads);
                    case POOL -> findPool(pid, threads);
                };
        if (found.isEmpty())
            throw new ProfileException("process " + pid + ": there are no carrier threads of virtual threads");
        for (ThreadUsage thread : found) {
            tids.add(thread.tid());
            if (thread.javaId() > 0) javaIds.add(thread.javaId());
            hasJavaThreads |= isJava(thread);
            hasCarriers |= isCarrier(thread);
        }
        ThreadUsage first = found.get(0);
        if (kind == Kind.POOL || kind == Kind.CARRIERS) pool = first.pool();
        return switch (kind) {
            case ALL -> "all threads";
            case CARRIERS -> "the carriers of virtual threads (" + found.size() + ")";
            case POOL -> "pool \"" + pool + "\" (" + found.size() + " threads)";
            case THREAD ->
                found.size() == 1
                        ? "thread \"" + first.name() + "\" (" + first.tid() + ")"
                        : found.size() + " threads \"" + first.name() + "\"";
        };
    }

    private static boolean isCarrier(ThreadUsage thread) {
        return thread.kind() == ThreadKind.CARRIER;
    }

    static boolean isJava(ThreadUsage thread) {
        return thread.kind() == ThreadKind.JAVA || isCarrier(thread);
    }

    private List<ThreadUsage> findThreads(long pid, List<ThreadUsage> threads) throws ProfileException {
        List<ThreadUsage> exact = filter(
                threads,
                thread -> thread.name().equals(text)
                        || Integer.toString(thread.tid()).equals(text));
        if (!exact.isEmpty()) return exact;
        List<ThreadUsage> similar = filter(threads, thread -> contains(thread.name(), text));
        Set<String> names = new TreeSet<>();
        for (ThreadUsage thread : similar) names.add(thread.name());
        checkUnique(pid, "thread", names);
        return similar;
    }

    private List<ThreadUsage> findPool(long pid, List<ThreadUsage> threads) throws ProfileException {
        for (String name : List.of(text, PoolName.of(text))) {
            List<ThreadUsage> exact = filter(threads, thread -> thread.pool().equals(name));
            if (!exact.isEmpty()) return exact;
        }
        List<ThreadUsage> similar = filter(threads, thread -> contains(thread.pool(), text));
        Set<String> names = new TreeSet<>();
        for (ThreadUsage thread : similar) names.add(thread.pool());
        checkUnique(pid, "pool", names);
        return similar;
    }

    private void checkUnique(long pid, String what, Set<String> names) throws ProfileException {
        if (names.size() == 1) return;
        if (names.isEmpty()) {
            throw new ProfileException("process " + pid + ": no " + what + " has \"" + text
                    + "\" in its name: taskclock top -b -a --limit 0 " + pid + " 1 1 lists the threads");
        }
        List<String> listed = new ArrayList<>(names).subList(0, Math.min(names.size(), MAX_LISTED));
        String more = names.size() > MAX_LISTED ? ", and " + (names.size() - MAX_LISTED) + " more" : "";
        throw new ProfileException("process " + pid + ": more than one " + what + " has \"" + text
                + "\" in its name: give one of: " + String.join(", ", listed) + more);
    }

    private static List<ThreadUsage> filter(List<ThreadUsage> threads, Predicate<ThreadUsage> condition) {
        return threads.stream().filter(condition).toList();
    }

    private static boolean contains(String name, String part) {
        return name.toLowerCase(Locale.ROOT).contains(part.toLowerCase(Locale.ROOT));
    }

    boolean isAll() {
        return kind == Kind.ALL;
    }

    boolean hasCarriers() {
        return hasCarriers;
    }

    boolean hasJavaThreads() {
        return hasJavaThreads;
    }

    /** Makes a selection with a carrier include all carriers, for a source that does not know which one ran a stack. */
    void includeAllCarriers(List<ThreadUsage> threads) {
        if (!hasCarriers) return;
        for (ThreadUsage thread : threads) {
            if (!isCarrier(thread)) continue;
            tids.add(thread.tid());
            if (thread.javaId() > 0) javaIds.add(thread.javaId());
        }
    }

    boolean includes(ThreadUsage thread) {
        if (thread.kind() == ThreadKind.VIRTUAL) return false;
        return isAll() || tids.contains(thread.tid()) || (!pool.isEmpty() && pool.equals(thread.pool()));
    }

    boolean includes(StackSource.Sample sample) {
        if (isAll()) return true;
        if (sample.tid() != 0 && tids.contains(sample.tid())) return true;
        if (sample.tid() == 0 && javaIds.contains(sample.javaId())) return true;
        if (hasCarriers && sample.isVirtual() && sample.tid() == 0) return true;
        return !pool.isEmpty() && pool.equals(PoolName.of(sample.thread()));
    }
}
