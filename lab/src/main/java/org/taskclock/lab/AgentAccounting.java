// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

/** CPU times of virtual threads and their carriers, read from the bean of the agent in this JVM. */
final class AgentAccounting {
    private static final String BEAN = "org.taskclock:type=TaskClock";

    record VirtualUsage(long cpuNanos, long userNanos, long systemNanos) {}

    /**
     * A carrier thread.
     *
     * @param ownNanos the time without a mounted virtual thread: mostly scheduling
     */
    record CarrierUsage(int tid, long cpuNanos, long carriedNanos, long ownNanos) {}

    private AgentAccounting() {}

    /** Returns the total of all virtual threads whose names start with the prefix, or null if there is no agent. */
    static VirtualUsage virtualThreads(String prefix) {
        CompositeData[] groups = attribute("VirtualThreads");
        if (groups == null) return null;
        long cpu = 0;
        long user = 0;
        long system = 0;
        for (CompositeData group : groups) {
            if (!((String) group.get("name")).startsWith(prefix)) continue;
            cpu += (long) group.get("cpuNanos");
            user += (long) group.get("userNanos");
            system += (long) group.get("systemNanos");
        }
        return new VirtualUsage(cpu, user, system);
    }

    /** Returns the usage of each carrier, or null if there is no agent. */
    static List<CarrierUsage> carriers() {
        CompositeData[] carriers = attribute("Carriers");
        if (carriers == null) return null;
        List<CarrierUsage> all = new ArrayList<>();
        for (CompositeData carrier : carriers) {
            all.add(new CarrierUsage(
                    Math.toIntExact((long) carrier.get("tid")),
                    (long) carrier.get("cpuNanos"),
                    (long) carrier.get("carriedNanos"),
                    (long) carrier.get("ownNanos")));
        }
        return all;
    }

    /** Switches accounting for virtual threads on or off. Requires the agent. */
    static void setEnabled(boolean enabled) {
        try {
            ManagementFactory.getPlatformMBeanServer()
                    .setAttribute(new ObjectName(BEAN), new Attribute("VirtualThreadAccounting", enabled));
        } catch (JMException e) {
            throw new IllegalStateException("cannot switch the agent's accounting", e);
        }
    }

    private static CompositeData[] attribute(String name) {
        try {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName bean = new ObjectName(BEAN);
            return server.isRegistered(bean) ? (CompositeData[]) server.getAttribute(bean, name) : null;
        } catch (JMException e) {
            throw new IllegalStateException("cannot read the agent's bean", e);
        }
    }
}
