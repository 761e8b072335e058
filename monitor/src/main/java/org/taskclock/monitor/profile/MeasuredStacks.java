// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.PoolName;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Scales the samples of each thread so that its stacks add up to the CPU time that was measured for it. */
final class MeasuredStacks {
    static final String VIRTUAL = "(virtual threads)";
    private static final String ENDED = PoolKey.ENDED.pool();

    /** The kernel keeps so many bytes of a thread's name. */
    private static final int KERNEL_NAME = 15;

    /** Threads that the source does not tell apart, their samples, and the CPU time that these share. */
    private static final class Group {
        private final List<ThreadUsage> threads = new ArrayList<>();
        private final List<StackSource.Sample> samples = new ArrayList<>();
        private long cpuNanos;
        private long userNanos;

        void add(ThreadUsage thread) {
            threads.add(thread);
            cpuNanos += Math.max(0, thread.cpuNanos());
            userNanos += Math.min(Math.max(0, thread.userNanos()), Math.max(0, thread.cpuNanos()));
        }
    }

    private record Key(String pool, String thread, int tid, String mode, List<String> frames) {}

    private final Map<Integer, Group> byTid = new LinkedHashMap<>();
    private final Map<Long, Group> byJavaId = new HashMap<>();
    /** Threads whose Java name is unknown, by the name that the kernel keeps. */
    private final Map<String, Group> byKernelName = new HashMap<>();
    /** Samples of threads that ended before their CPU time was read. */
    private final Group ended = new Group();

    private final Map<Key, Profile.Stack> stacks = new LinkedHashMap<>();
    private final boolean seesKernel;
    private boolean hasVirtual;
    private long sampledNanos;
    private long cpuNanos;
    private long userNanos;

    /**
     * Scales the samples of the selected threads.
     *
     * @param threads all threads of the JVM
     * @param samples those of all threads
     */
    MeasuredStacks(
            ProfileSelection selection,
            List<ThreadUsage> threads,
            ProcessUsage process,
            List<StackSource.Sample> samples) {
        seesKernel = samples.stream().anyMatch(StackSource.Sample::isInKernel);
        boolean hasTids = samples.stream().anyMatch(sample -> sample.tid() != 0);
        // Flight Recorder does not record on which carrier a virtual thread ran.
        boolean sharesCarriers = samples.stream().anyMatch(MeasuredStacks::isOnUnknownCarrier);
        Group carriers = new Group();
        long restNanos = process.processNanos();
        long restUserNanos = process.processUserNanos();
        for (ThreadUsage thread : threads) {
            if (thread.tid() == 0) continue;
            boolean isCarrier = sharesCarriers && thread.kind() == ThreadKind.CARRIER;
            Group group = isCarrier ? carriers : hasTids ? new Group() : group(thread);
            group.add(thread);
            byTid.put(thread.tid(), group);
            if (thread.javaId() > 0) byJavaId.put(thread.javaId(), group);
            restNanos -= Math.max(0, thread.cpuNanos());
            restUserNanos -= Math.max(0, thread.userNanos());
        }
        for (StackSource.Sample sample : samples) {
            if (!selection.includes(sample)) continue;
            groupOf(sample, carriers).samples.add(sample);
            sampledNanos += sample.cpuNanos();
            hasVirtual |= sample.isVirtual();
        }
        // The readings of the process and of its threads are not taken at the same time.
        shareEnded(selection.isAll(), Math.max(0, restNanos), Math.max(0, restUserNanos));
        byTid.values().stream()
                .distinct()
                .filter(group ->
                        !group.samples.isEmpty() || group.threads.stream().anyMatch(selection::includes))
                .forEach(this::add);
        if (ended.cpuNanos > 0) add(ended);
    }

    private Group group(ThreadUsage thread) {
        boolean hasJavaName = !thread.truncated() || thread.javaId() > 0;
        return hasJavaName ? new Group() : byKernelName.computeIfAbsent(thread.name(), name -> new Group());
    }

    private static boolean isOnUnknownCarrier(StackSource.Sample sample) {
        return sample.tid() == 0 && sample.isVirtual();
    }

    private Group groupOf(StackSource.Sample sample, Group carriers) {
        if (sample.tid() != 0) return byTid.getOrDefault(sample.tid(), ended);
        if (sample.isVirtual()) return carriers.threads.isEmpty() ? ended : carriers;
        Group known = byJavaId.get(sample.javaId());
        if (known != null) return known;
        String name = sample.thread();
        return byKernelName.getOrDefault(name.substring(0, Math.min(KERNEL_NAME, name.length())), ended);
    }

    /**
     * Gives the samples of ended threads the CPU time that belongs to no other thread. If some threads are selected,
     * this is as much as the samples stand for, because that time cannot be measured for each pool.
     */
    private void shareEnded(boolean isAll, long restNanos, long restUserNanos) {
        long sampled = nanosOf(ended.samples);
        ended.cpuNanos = isAll ? restNanos : Math.min(restNanos, sampled);
        if (restNanos > 0)
            ended.userNanos = (long) (ended.cpuNanos * Math.min(1.0, (double) restUserNanos / restNanos));
    }

    private static long nanosOf(List<StackSource.Sample> samples) {
        return samples.stream().mapToLong(StackSource.Sample::cpuNanos).sum();
    }

    private void add(Group group) {
        cpuNanos += group.cpuNanos;
        userNanos += group.userNanos;
        if (group.samples.isEmpty()) {
            if (group == ended) addNotSampled(ENDED, ENDED, 0, group.cpuNanos);
            for (ThreadUsage thread : group.threads)
                addNotSampled(thread.pool(), thread.name(), thread.tid(), thread.cpuNanos());
            return;
        }
        List<StackSource.Sample> kernel =
                group.samples.stream().filter(StackSource.Sample::isInKernel).toList();
        List<StackSource.Sample> user =
                group.samples.stream().filter(sample -> !sample.isInKernel()).toList();
        long systemNanos = group.cpuNanos - group.userNanos;
        if (!kernel.isEmpty() && !user.isEmpty() && group.userNanos > 0 && systemNanos > 0) {
            add(group, user, group.userNanos);
            add(group, kernel, systemNanos);
        } else {
            add(group, group.samples, group.cpuNanos);
        }
    }

    private void addNotSampled(String pool, String thread, int tid, long nanos) {
        if (nanos <= 0) return;
        add(new Key(pool, thread, tid, "", List.of(Profile.NOT_SAMPLED)), 0, nanos);
    }

    /** Distributes a time to samples. The difference of rounded sums loses nothing. */
    private void add(Group group, List<StackSource.Sample> samples, long nanos) {
        double all = nanosOf(samples);
        long passed = 0;
        long given = 0;
        for (StackSource.Sample sample : samples) {
            passed += sample.cpuNanos();
            long end = (long) (nanos * (passed / all));
            add(key(group, sample), sample.samples(), end - given);
            given = end;
        }
    }

    private Key key(Group group, StackSource.Sample sample) {
        List<String> frames = sample.frames().isEmpty() ? List.of(Profile.NO_STACK) : sample.frames();
        String mode = !seesKernel ? "" : sample.isInKernel() ? Profile.KERNEL : Profile.USER;
        if (group == ended) return new Key(PoolName.of(sample.thread()), ENDED, 0, mode, frames);
        if (isOnUnknownCarrier(sample)) return new Key(group.threads.get(0).pool(), virtual(sample), 0, mode, frames);
        ThreadUsage thread = threadOf(group, sample);
        boolean isNamed =
                thread != null && (!thread.truncated() || sample.thread().isEmpty());
        String name = isNamed ? thread.name() : sample.thread();
        String pool = isNamed ? thread.pool() : PoolName.of(name);
        return new Key(pool, name, thread == null ? 0 : thread.tid(), mode, frames);
    }

    /** Returns a name for all virtual threads of a group, such as "(virtual threads) request-#". */
    private String virtual(StackSource.Sample sample) {
        // A carrier that mounts or unmounts one.
        if (byJavaId.containsKey(sample.javaId())) return sample.thread();
        return sample.thread().isEmpty() ? VIRTUAL : VIRTUAL + " " + PoolName.of(sample.thread());
    }

    /** Returns null if threads with the same name cannot be told apart. */
    private static ThreadUsage threadOf(Group group, StackSource.Sample sample) {
        if (group.threads.size() == 1) return group.threads.get(0);
        return group.threads.stream()
                .filter(thread -> thread.javaId() > 0 && thread.javaId() == sample.javaId())
                .findFirst()
                .orElse(null);
    }

    private void add(Key key, long samples, long nanos) {
        Profile.Stack stack = new Profile.Stack(key.pool, key.thread, key.tid, key.mode, key.frames, samples, nanos);
        stacks.merge(key, stack, Profile.Stack::plus);
    }

    /** Returns the CPU time of the selected threads, which is that of all stacks. */
    long cpuNanos() {
        return cpuNanos;
    }

    long userNanos() {
        return userNanos;
    }

    /** Returns the CPU time that the samples stand for, before they are scaled. */
    long sampledNanos() {
        return sampledNanos;
    }

    boolean hasVirtual() {
        return hasVirtual;
    }

    /** Returns whether any thread was sampled in the kernel. */
    boolean seesKernel() {
        return seesKernel;
    }

    /** Returns the part of the CPU time that belongs to threads that have ended. */
    long endedNanos() {
        return ended.cpuNanos;
    }

    /** Returns the stacks with the most CPU time first. */
    List<Profile.Stack> stacks() {
        List<Profile.Stack> sorted = new ArrayList<>(stacks.values());
        sorted.sort(Comparator.comparingLong(Profile.Stack::cpuNanos).reversed());
        return sorted;
    }
}
