// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Clients that send small searches one after another, each over its own connection. */
final class SearchLoad implements AutoCloseable {
    private static final String CLIENT = "search-client";
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final List<HttpConnection> connections = new ArrayList<>();
    private final ExecutorService clients;
    private final byte[][] requests = new byte[1000][];

    /** What one search takes: CPU time of the node's threads and of all threads but the clients'. */
    record Usage(long searches, double perSecond, double nodeMicros, double allMicros) {}

    SearchLoad(InetSocketAddress address, String index, int clients) throws IOException {
        this.clients = Executors.newFixedThreadPool(
                clients, Thread.ofPlatform().name(CLIENT, 0).factory());
        for (int i = 0; i < clients; i++) connections.add(new HttpConnection(address));
        for (int i = 0; i < requests.length; i++) requests[i] = Documents.small(index, i);
    }

    Usage run(double seconds) throws InterruptedException, ExecutionException, IOException {
        KernelTimes before = KernelTimes.read();
        long process = SYSTEM.getProcessCpuTime();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        List<Callable<Long>> loops = new ArrayList<>();
        for (HttpConnection connection : connections) loops.add(() -> sendUntil(connection, end));
        long searches = 0;
        for (Future<Long> loop : clients.invokeAll(loops)) searches += loop.get();
        double elapsed = (System.nanoTime() - start) / 1e9;
        process = SYSTEM.getProcessCpuTime() - process;
        KernelTimes after = KernelTimes.read();
        long ours = after.since(before, name -> name.startsWith(CLIENT));
        double nodeMicros = after.since(before, KernelTimes::isNode) / 1e3 / searches;
        return new Usage(searches, searches / elapsed, nodeMicros, (process - ours) / 1e3 / searches);
    }

    private long sendUntil(HttpConnection connection, long end) throws IOException {
        long searches = 0;
        for (; System.nanoTime() < end; searches++) connection.send(requests[(int) (searches % requests.length)]);
        return searches;
    }

    @Override
    public void close() throws IOException {
        clients.shutdown();
        for (HttpConnection connection : connections) connection.close();
    }
}
