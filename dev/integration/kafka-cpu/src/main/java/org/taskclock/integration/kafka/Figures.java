// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

/**
 * The cumulative figures of a broker at one time, read over JMX.
 *
 * @param handlers CPU time of the request handler threads, from the kernel's clocks of these threads
 * @param network the same for the network threads
 * @param process CPU time of the process
 * @param gcMillis time in garbage collections
 * @param accounts the CPU time of the accounts of {@link RequestCpu}, by type and name
 * @param requests the number of requests by type
 */
record Figures(
        long nanoTime,
        long handlers,
        long network,
        long process,
        long gcMillis,
        Map<String, Map<String, Long>> accounts,
        Map<String, Long> requests) {
    static Figures read(Node node) throws IOException, JMException {
        MBeanServerConnection beans = node.beans();
        ObjectName threads = new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME);
        List<Long> handlers = new ArrayList<>();
        List<Long> network = new ArrayList<>();
        for (CompositeData each : (CompositeData[]) beans.invoke(
                threads, "dumpAllThreads", new Object[] {false, false}, new String[] {"boolean", "boolean"})) {
            ThreadInfo thread = ThreadInfo.from(each);
            if (thread.getThreadName().startsWith("data-plane-kafka-request-handler-")) {
                handlers.add(thread.getThreadId());
            } else if (thread.getThreadName().startsWith("data-plane-kafka-network-thread-")) {
                network.add(thread.getThreadId());
            }
        }
        // The clocks of the handlers and the accounts are read as close to each other as possible.
        ObjectName control = new ObjectName(TestControl.NAME);
        long now = System.nanoTime();
        long before = cpuNanos(beans, threads, handlers);
        // The broker without the patch has no accounts.
        Map<String, Map<String, Long>> accounts = beans.isRegistered(control) ? accounts(beans, control) : Map.of();
        long after = cpuNanos(beans, threads, handlers);
        Map<String, Long> requests = new TreeMap<>();
        for (ObjectName name :
                beans.queryNames(new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,*"), null)) {
            requests.merge(name.getKeyProperty("request"), (Long) beans.getAttribute(name, "Count"), Long::sum);
        }
        long gc = 0;
        for (ObjectName name : beans.queryNames(new ObjectName("java.lang:type=GarbageCollector,*"), null)) {
            gc += (Long) beans.getAttribute(name, "CollectionTime");
        }
        long process = (Long)
                beans.getAttribute(new ObjectName(ManagementFactory.OPERATING_SYSTEM_MXBEAN_NAME), "ProcessCpuTime");
        return new Figures(
                now, (before + after) / 2, cpuNanos(beans, threads, network), process, gc, accounts, requests);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Map<String, Long>> accounts(MBeanServerConnection beans, ObjectName control)
            throws IOException, JMException {
        return (Map<String, Map<String, Long>>) beans.getAttribute(control, "Accounts");
    }

    private static long cpuNanos(MBeanServerConnection beans, ObjectName threads, List<Long> ids)
            throws IOException, JMException {
        long[] wanted = ids.stream().mapToLong(Long::longValue).toArray();
        long sum = 0;
        for (long nanos : (long[]) beans.invoke(
                threads, "getThreadCpuTime", new Object[] {wanted}, new String[] {long[].class.getName()})) {
            if (nanos < 0) throw new IllegalStateException("a thread has ended");
            sum += nanos;
        }
        return sum;
    }

    /** Returns what has been added since an earlier reading. */
    Figures minus(Figures earlier) {
        Map<String, Map<String, Long>> added = new TreeMap<>();
        accounts.forEach((type, values) -> {
            Map<String, Long> old = earlier.accounts.getOrDefault(type, Map.of());
            added.put(type, minus(values, old));
        });
        return new Figures(
                nanoTime - earlier.nanoTime,
                handlers - earlier.handlers,
                network - earlier.network,
                process - earlier.process,
                gcMillis - earlier.gcMillis,
                added,
                minus(requests, earlier.requests));
    }

    private static Map<String, Long> minus(Map<String, Long> values, Map<String, Long> earlier) {
        Map<String, Long> added = new TreeMap<>();
        values.forEach((key, value) -> added.put(key, value - earlier.getOrDefault(key, 0L)));
        return added;
    }

    long account(String type, String value) {
        return accounts.getOrDefault(type, Map.of()).getOrDefault(value, 0L);
    }

    long sum(String type) {
        return accounts.getOrDefault(type, Map.of()).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    /** Returns what Kafka's request quota has measured for a client in the last 11 seconds, in percent. */
    static double requestTime(Node node, String client) throws IOException, JMException {
        for (ObjectName name :
                node.beans().queryNames(new ObjectName("kafka.server:type=Request,client-id=" + client + ",*"), null)) {
            return ((Number) node.beans().getAttribute(name, "request-time")).doubleValue();
        }
        return Double.NaN;
    }
}
