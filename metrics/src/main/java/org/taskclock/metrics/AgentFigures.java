// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import org.taskclock.PoolName;

/**
 * The counts of the agent in this JVM, if it is loaded: the CPU time of virtual threads, and calls of Thread.yield.
 * They are read from the agent's bean, so the agent's class loader does not matter.
 */
final class AgentFigures {
    private static final ObjectName BEAN = beanName();

    /**
     * The agent sets this system property. Looking for its bean without it would create the platform's MBean server.
     */
    private static final String STATE_PROPERTY = "taskclock.agent";

    private static final String[] ATTRIBUTES = {
        "VirtualThreads",
        "QueuedVirtualThreads",
        "VirtualThreadParallelism",
        "VirtualThreadAccounting",
        "Carriers",
        "YieldMode",
        "VirtualYieldMode",
        "Yielders",
        "VirtualYielders"
    };

    /** By name; elements are CPU time and user time. */
    private final Map<String, long[]> virtualNanos = new HashMap<>();

    private final Map<String, Long> yields = new HashMap<>();
    private final Map<String, Long> virtualYields = new HashMap<>();

    private VirtualThreadCounts virtualThreads = VirtualThreadCounts.UNKNOWN;
    private Set<Long> carriers = Set.of();

    private static ObjectName beanName() {
        try {
            return new ObjectName("org.taskclock:type=TaskClock");
        } catch (MalformedObjectNameException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the counts since the previous call; nothing if there is no agent. */
    List<PoolUsage> advance() {
        List<PoolUsage> usages = new ArrayList<>();
        virtualThreads = VirtualThreadCounts.UNKNOWN;
        carriers = Set.of();
        if (System.getProperty(STATE_PROPERTY) == null) return usages;
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        if (!server.isRegistered(BEAN)) return usages;
        try {
            addFigures(server, usages);
        } catch (JMException | RuntimeException e) {
            return usages; // detached in the meantime, or another version of the agent
        }
        return usages;
    }

    /** Returns the kernel's ids of the threads that carry virtual threads, as of the last call of {@link #advance}. */
    Set<Long> carriers() {
        return carriers;
    }

    /** Returns the states of virtual threads as of the last call of {@link #advance}. */
    VirtualThreadCounts virtualThreads() {
        return virtualThreads;
    }

    private void addFigures(MBeanServer server, List<PoolUsage> usages) throws JMException {
        Map<String, Object> values = new HashMap<>();
        for (Attribute attribute : server.getAttributes(BEAN, ATTRIBUTES).asList())
            values.put(attribute.getName(), attribute.getValue());
        if (values.get("VirtualThreads") instanceof CompositeData[] groups) {
            for (CompositeData group : groups) addVirtual(group, usages);
            if (values.get("Carriers") instanceof CompositeData[] rows) carriers = tids(rows);
            if (Boolean.TRUE.equals(values.get("VirtualThreadAccounting"))
                    && values.get("QueuedVirtualThreads") instanceof Long queued
                    && values.get("VirtualThreadParallelism") instanceof Integer parallelism)
                virtualThreads = counts(groups, queued, parallelism);
        }
        if ("count".equals(values.get("YieldMode")) && values.get("Yielders") instanceof CompositeData[] yielders)
            addYields(yielders, usages);
        if ("count".equals(values.get("VirtualYieldMode"))
                && values.get("VirtualYielders") instanceof TabularData yielders) addVirtualYields(yielders, usages);
    }

    /** Returns the kernel's ids of the carriers that have not ended. */
    private static Set<Long> tids(CompositeData... carriers) {
        Set<Long> tids = new HashSet<>();
        for (CompositeData carrier : carriers) tids.add((Long) carrier.get("tid"));
        tids.remove(0L);
        return tids;
    }

    private static VirtualThreadCounts counts(CompositeData[] groups, long queued, int parallelism) {
        long live = 0;
        long mounted = 0;
        for (CompositeData group : groups) {
            live += (Long) group.get("live");
            mounted += (Long) group.get("mounted");
        }
        return new VirtualThreadCounts(live, mounted, queued, parallelism);
    }

    private void addVirtual(CompositeData group, List<PoolUsage> usages) {
        String name = (String) group.get("name");
        long cpu = (Long) group.get("cpuNanos");
        long user = (Long) group.get("userNanos");
        long[] last = virtualNanos.computeIfAbsent(name, n -> new long[2]);
        long moreCpu = increase(cpu, last[0]);
        if (cpu < last[0]) last[1] = 0;
        // CPU and user time never decrease, but their difference may.
        long moreUser = Math.max(0, Math.min(moreCpu, user - last[1]));
        last[0] = cpu;
        last[1] += moreUser;
        int live = (int) Math.min(Integer.MAX_VALUE, (Long) group.get("live"));
        usages.add(new PoolUsage(name, ThreadKind.VIRTUAL, live, moreUser, moreCpu - moreUser, -1, -1, -1, -1));
    }

    /** An agent that is loaded again counts from 0. */
    private static long increase(long now, long last) {
        return now < last ? now : now - last;
    }

    private void addYields(CompositeData[] yielders, List<PoolUsage> usages) {
        Map<String, Long> now = new HashMap<>();
        // Ended threads are listed by pool, so only the sum of a pool never decreases.
        for (CompositeData yielder : yielders)
            now.merge(PoolName.of((String) yielder.get("name")), (Long) yielder.get("yields"), Long::sum);
        // Carriers hardly ever yield themselves.
        now.forEach((pool, count) -> addYields(pool, ThreadKind.JAVA, count, yields, usages));
    }

    private void addVirtualYields(TabularData yielders, List<PoolUsage> usages) {
        for (Object row : yielders.values()) {
            CompositeData entry = (CompositeData) row;
            addYields((String) entry.get("key"), ThreadKind.VIRTUAL, (Long) entry.get("value"), virtualYields, usages);
        }
    }

    private static void addYields(
            String pool, ThreadKind kind, long count, Map<String, Long> counted, List<PoolUsage> usages) {
        long more = increase(count, counted.getOrDefault(pool, 0L));
        counted.put(pool, count);
        usages.add(new PoolUsage(pool, kind, 0, 0, 0, -1, -1, -1, more));
    }
}
