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

/** What the agent in this JVM knows of virtual threads and their carriers, by its bean. */
final class Accounts {
    private static final String BEAN = "org.taskclock:type=TaskClock";

    record Virtual(long cpuNanos, long userNanos, long systemNanos) {}

    /** Own is what it did besides carrying: mostly scheduling. */
    record Carrier(int tid, long cpuNanos, long carriedNanos, long ownNanos) {}

    private Accounts() {}

    /** Of all whose names begin so, together; null if there is no agent. */
    static Virtual ofVirtualThreads(String prefix) {
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
        return new Virtual(cpu, user, system);
    }

    /** Null if there is no agent. */
    static List<Carrier> ofCarriers() {
        CompositeData[] carriers = attribute("Carriers");
        if (carriers == null) return null;
        List<Carrier> all = new ArrayList<>();
        for (CompositeData carrier : carriers) {
            all.add(new Carrier(
                    Math.toIntExact((long) carrier.get("tid")),
                    (long) carrier.get("cpuNanos"),
                    (long) carrier.get("carriedNanos"),
                    (long) carrier.get("ownNanos")));
        }
        return all;
    }

    /** Switches accounting for virtual threads on or off, where the agent is. */
    static void account(boolean wanted) {
        try {
            ManagementFactory.getPlatformMBeanServer()
                    .setAttribute(new ObjectName(BEAN), new Attribute("AccountingVirtualThreads", wanted));
        } catch (JMException e) {
            throw new IllegalStateException("the agent's bean does not do as it is told", e);
        }
    }

    private static CompositeData[] attribute(String name) {
        try {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName bean = new ObjectName(BEAN);
            return server.isRegistered(bean) ? (CompositeData[]) server.getAttribute(bean, name) : null;
        } catch (JMException e) {
            throw new IllegalStateException("the agent's bean does not answer", e);
        }
    }
}
