// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.JmxReporter;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;

/** A controller, a broker with the patch, and one without it, on loopback. */
final class Cluster implements AutoCloseable {
    private static final String REQUEST_PERCENTAGE = "request_percentage";
    private static final int PATCHED_ID = 2;
    private static final int STOCK_ID = 3;

    private final Path directory = Files.createTempDirectory("kafka-cpu");
    private final Node controller;
    private final Admin admin;
    final Node patched;
    final Node stock;

    /** The class path of the patched broker is this JVM's; the other one's has only Kafka's jars. */
    Cluster(String stockClassPath) throws IOException, InterruptedException {
        String id = Uuid.randomUuid().toString();
        int port = freePort();
        controller = Node.controller(directory, id, port, stockClassPath);
        String jmx = JmxReporter.class.getName();
        patched = Node.broker(
                directory,
                id,
                PATCHED_ID,
                freePort(),
                port,
                System.getProperty("java.class.path"),
                jmx,
                RequestCpu.class.getName(),
                TestControl.class.getName());
        stock = Node.broker(directory, id, STOCK_ID, freePort(), port, stockClassPath, jmx);
        admin = Admin.create(Map.of("bootstrap.servers", patched.address(), "client.id", "admin"));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** Creates a topic of one partition on a broker, which compresses the records again if it is to use gzip. */
    void createTopic(String name, Node broker, String compression) throws ExecutionException, InterruptedException {
        NewTopic topic = new NewTopic(name, Map.of(0, List.of(broker.id)));
        topic.configs(Map.of("compression.type", compression));
        admin.createTopics(List.of(topic)).all().get();
    }

    /** Waits until both brokers are up. */
    void await() throws ExecutionException, InterruptedException {
        long deadline = System.nanoTime() + 90_000_000_000L;
        while (admin.describeCluster().nodes().get().size() < 2) {
            if (System.nanoTime() > deadline) throw new IllegalStateException("no brokers: see " + directory);
            Thread.sleep(200);
        }
    }

    /** Sets the request quota of a client; of all clients if it is null. */
    void setQuota(String client, double percentage) throws ExecutionException, InterruptedException {
        ClientQuotaEntity entity = new ClientQuotaEntity(Collections.singletonMap(ClientQuotaEntity.CLIENT_ID, client));
        ClientQuotaAlteration.Op op = new ClientQuotaAlteration.Op(REQUEST_PERCENTAGE, percentage);
        admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity, List.of(op))))
                .all()
                .get();
    }

    @Override
    public void close() throws IOException {
        admin.close();
        stock.close();
        patched.close();
        controller.close();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
        }
    }
}
