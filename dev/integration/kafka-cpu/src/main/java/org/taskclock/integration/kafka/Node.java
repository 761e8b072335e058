// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServerConnection;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** A Kafka broker or controller in a JVM of its own. */
final class Node implements AutoCloseable {
    static final int CONTROLLER_ID = 1;

    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    final int id;
    final int port;
    final Process process;
    private JMXConnector connector;

    private Node(int id, int port, Process process) {
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        this.id = id;
        this.port = port;
        this.process = process;
    }

    static Node controller(Path directory, String cluster, int port, String classPath)
            throws IOException, InterruptedException {
        return start(
                directory,
                cluster,
                classPath,
                "192m",
                CONTROLLER_ID,
                port,
                Map.of("process.roles", "controller", "listeners", "CONTROLLER://127.0.0.1:" + port));
    }

    static Node broker(
            Path directory, String cluster, int id, int port, int controllerPort, String classPath, String... reporters)
            throws IOException, InterruptedException {
        Map<String, String> settings = Map.of(
                "process.roles",
                "broker",
                "listeners",
                "PLAINTEXT://127.0.0.1:" + port,
                "controller.quorum.bootstrap.servers",
                "127.0.0.1:" + controllerPort,
                "num.io.threads",
                "3",
                "num.network.threads",
                "2",
                // A broker under memory pressure must not be fenced.
                "broker.session.timeout.ms",
                "60000",
                "metric.reporters",
                String.join(",", reporters));
        return start(directory, cluster, classPath, "256m", id, port, settings);
    }

    private static Node start(
            Path directory,
            String cluster,
            String classPath,
            String heap,
            int id,
            int port,
            Map<String, String> settings)
            throws IOException, InterruptedException {
        Path home = Files.createDirectories(directory.resolve("node" + id));
        Properties properties = new Properties();
        properties.put("node.id", String.valueOf(id));
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("log.dirs", home.resolve("logs").toString());
        properties.put("offsets.topic.replication.factor", "1");
        properties.put("log.segment.bytes", String.valueOf(32 << 20));
        properties.put("log.retention.bytes", String.valueOf(64 << 20));
        properties.put("log.retention.check.interval.ms", "5000");
        properties.put("log.segment.delete.delay.ms", "1000");
        properties.putAll(settings);
        if (id == CONTROLLER_ID) properties.put("controller.quorum.bootstrap.servers", "127.0.0.1:" + port);
        Path file = home.resolve("server.properties");
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
        List<String> format = new ArrayList<>(List.of("format", "-t", cluster, "-c", file.toString()));
        format.add(id == CONTROLLER_ID ? "--standalone" : "--no-initial-controllers");
        int exit = java(classPath, heap, "kafka.tools.StorageTool", home.resolve("format.log"), format)
                .waitFor();
        if (exit != 0) throw new IOException("formatting the storage failed: see " + home);
        return new Node(
                id, port, java(classPath, heap, "kafka.Kafka", home.resolve("node.log"), List.of(file.toString())));
    }

    private static Process java(String classPath, String heap, String main, Path log, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>(
                List.of(JAVA, "-Xms" + heap, "-Xmx" + heap, "-XX:+UseSerialGC", "-cp", classPath, main));
        command.addAll(arguments);
        File output = log.toFile();
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    /** Connects to the JVM's own MBean server, without a port for others. */
    @SuppressWarnings("BanJNDI") // the connector of our own child process
    MBeanServerConnection beans() throws IOException {
        if (connector == null) {
            try {
                VirtualMachine machine = VirtualMachine.attach(String.valueOf(process.pid()));
                try {
                    connector = JMXConnectorFactory.connect(new JMXServiceURL(machine.startLocalManagementAgent()));
                } finally {
                    machine.detach();
                }
            } catch (AttachNotSupportedException e) {
                throw new IOException(e);
            }
        }
        return connector.getMBeanServerConnection();
    }

    @Override
    public void close() throws IOException {
        try {
            if (connector != null) connector.close();
        } catch (IOException e) {
            // The node is stopped anyway.
        }
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
