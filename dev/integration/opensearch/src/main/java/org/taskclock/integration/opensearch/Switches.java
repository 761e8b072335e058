// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Changes the node's settings and the agent's while they run. */
final class Switches {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private final HttpConnection connection;

    Switches(HttpConnection connection) {
        this.connection = connection;
    }

    void tracking(boolean isEnabled) throws IOException {
        set("task_resource_tracking.enabled", isEnabled);
    }

    /** With false, the node sends its figures between phases of a search as JSON, as all versions before 3.8 do. */
    void binaryHeader(boolean isEnabled) throws IOException {
        set("task_resource_tracking.binary_header.enabled", isEnabled);
    }

    /** With true, up to three threads share the segments of a shard. */
    void concurrentSearch(boolean isEnabled) throws IOException {
        set("search.concurrent.max_slice_count", 3);
        set("search.concurrent_segment_search.mode", isEnabled ? "\"all\"" : "\"none\"");
    }

    private void set(String setting, Object value) throws IOException {
        connection.send("PUT", "/_cluster/settings", "{\"transient\":{\"" + setting + "\":" + value + "}}");
    }

    /** The agent registers its bean only after the program has started, but sets this property before. */
    static boolean hasAgent() {
        return System.getProperty("taskclock.agent") != null;
    }

    static void agent(boolean isEnabled) throws JMException {
        SERVER.setAttribute(agent(), new Attribute("Enabled", isEnabled));
        boolean isReplaced = (Boolean) SERVER.getAttribute(agent(), "ThreadMXBeanReplaced");
        if (isEnabled && !isReplaced) throw new IllegalStateException("the agent has not replaced ThreadMXBean");
    }

    private static ObjectName agent() throws JMException {
        return new ObjectName("org.taskclock:type=TaskClock");
    }
}
