// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/**
 * What the agent in this JVM counts, if it is loaded: the CPU time of virtual threads, and calls of Thread.yield. It is
 * read from the agent's bean, so it does not matter which class loader has the agent.
 */
final class AgentFigures {
    private static final ObjectName BEAN = beanName();

    /**
     * The agent sets this system property. Looking for its bean without it would create the platform's MBean server.
     */
    private static final String STATE_PROPERTY = "taskclock.agent";

    private static final String[] ATTRIBUTES = {
        "VirtualThreads", "YieldMode", "VirtualYieldMode", "Yielders", "VirtualYielders"
    };

    /** By name; elements are user and system time. */
    private final Map<String, long[]> virtualNanos = new HashMap<>();

    private final Map<String, Long> yields = new HashMap<>();
    private final Map<String, Long> virtualYields = new HashMap<>();

    private static ObjectName beanName() {
        try {
            return new ObjectName("org.taskclock:type=TaskClock");
        } catch (MalformedObjectNameException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns what was counted since the previous call; nothing if there is no agent. */
    List<PoolUsage> advance() {
        List<PoolUsage> usages = new ArrayList<>();
        if (System.getProperty(STATE_PROPERTY) == null) return usages;
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        if (!server.isRegistered(BEAN)) return usages;
        Map<String, Object> values = new HashMap<>();
        try {
            for (Attribute attribute : server.getAttributes(BEAN, ATTRIBUTES).asList())
                values.put(attribute.getName(), attribute.getValue());
        } catch (JMException e) {
            return usages; // detached meanwhile
        }
        if (values.get("VirtualThreads") instanceof CompositeData[] groups)
            for (CompositeData group : groups) addVirtual(group, usages);
        if ("count".equals(values.get("YieldMode")) && values.get("Yielders") instanceof CompositeData[] yielders)
            addYields(yielders, usages);
        if ("count".equals(values.get("VirtualYieldMode"))
                && values.get("VirtualYielders") instanceof TabularData yielders) addVirtualYields(yielders, usages);
        return usages;
    }

    private void addVirtual(CompositeData group, List<PoolUsage> usages) {
        String name = (String) group.get("name");
        long user = (Long) group.get("userNanos");
        long system = (Long) group.get("systemNanos");
        long[] last = virtualNanos.computeIfAbsent(name, n -> new long[2]);
        int live = (int) Math.min(Integer.MAX_VALUE, (Long) group.get("live"));
        usages.add(new PoolUsage(
                name,
                ThreadKind.VIRTUAL,
                live,
                Math.max(0, user - last[0]),
                Math.max(0, system - last[1]),
                -1,
                -1,
                -1,
                -1));
        last[0] = Math.max(last[0], user);
        last[1] = Math.max(last[1], system);
    }

    private void addYields(CompositeData[] yielders, List<PoolUsage> usages) {
        Map<String, Long> now = new HashMap<>();
        // Ended threads are listed by pool, so only the sum of a pool never decreases.
        for (CompositeData yielder : yielders)
            now.merge(ThreadNames.pool((String) yielder.get("name")), (Long) yielder.get("yields"), Long::sum);
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
        long more = Math.max(0, count - counted.getOrDefault(pool, 0L));
        counted.merge(pool, count, Math::max);
        usages.add(new PoolUsage(pool, kind, 0, 0, 0, -1, -1, -1, more));
    }
}
