// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration;

import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import kafka.Kafka;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.apache.kafka.common.serialization.IntegerSerializer;
import org.apache.kafka.tools.ConsumerPerformance;
import org.apache.kafka.tools.ProducerPerformance;

/**
 * A Kafka broker with its controller, under load from Kafka's own performance tools in the same process. Arguments: a
 * directory for its files, and a port. The next higher port must also be free.
 */
public final class KafkaLoad {
    private static final String LOAD = "load";
    private static final String ANSWERS = "answers";
    private static final int ANSWERED = 200;
    private static final Duration POLL = Duration.ofSeconds(10);
    private static final String RECORDS = "20000000";

    private KafkaLoad() {}

    public static void main(String[] args) throws Exception {
        Path directory = Files.createTempDirectory(Path.of(args[0]), "kafka");
        int port = Integer.parseInt(args[1]);
        String server = "127.0.0.1:" + port;
        Path properties = configure(directory, port);
        format(properties);
        daemon("broker", () -> Kafka.main(new String[] {properties.toString()}));
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", server))) {
            admin.createTopics(List.of(new NewTopic(LOAD, 2, (short) 1), new NewTopic(ANSWERS, 1, (short) 1)))
                    .all()
                    .get();
        }
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        ObjectName received =
                new ObjectName("kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=" + LOAD);
        Load load = Load.register(() -> count(beans, received));
        repeat(
                "producer",
                load,
                () -> ProducerPerformance.main(new String[] {
                    "--topic",
                    LOAD,
                    "--num-records",
                    RECORDS,
                    "--record-size",
                    "100",
                    "--throughput",
                    "-1",
                    "--bootstrap-server",
                    server
                }));
        repeat(
                "consumer",
                load,
                () -> ConsumerPerformance.main(new String[] {
                    "--topic", LOAD, "--num-records", RECORDS, "--bootstrap-server", server, "--timeout", "60000"
                }));
        daemon("answers", () -> checkAnswers(load, server));
        Load.awaitEnd();
    }

    private interface Task {
        void run() throws Exception;
    }

    private static void daemon(String name, Task task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (Exception e) {
                        e.printStackTrace();
                        System.exit(1);
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void repeat(String name, Load load, Task task) {
        daemon(name, () -> {
            while (true) {
                try {
                    task.run();
                } catch (Exception e) {
                    load.fail(e);
                }
            }
        });
    }

    private static Path configure(Path directory, int port) throws IOException {
        Properties settings = new Properties();
        settings.putAll(Map.of(
                "process.roles", "broker,controller",
                "node.id", "1",
                "controller.quorum.voters", "1@127.0.0.1:" + (port + 1),
                "listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + (port + 1),
                "controller.listener.names", "CONTROLLER",
                "log.dirs", directory.resolve("logs").toString(),
                "offsets.topic.replication.factor", "1",
                "transaction.state.log.replication.factor", "1",
                "transaction.state.log.min.isr", "1"));
        // Without these limits, a soak test would fill the disk.
        settings.putAll(Map.of(
                "log.segment.bytes",
                String.valueOf(64 << 20),
                "log.retention.bytes",
                String.valueOf(256 << 20),
                "log.retention.check.interval.ms",
                "5000",
                "log.segment.delete.delay.ms",
                "1000"));
        Path file = directory.resolve("server.properties");
        try (Writer writer = Files.newBufferedWriter(file)) {
            settings.store(writer, null);
        }
        return file;
    }

    private static void format(Path properties) throws IOException, InterruptedException {
        int exit = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "kafka.tools.StorageTool",
                        "format",
                        "-t",
                        Uuid.randomUuid().toString(),
                        "-c",
                        properties.toString())
                .redirectErrorStream(true)
                .redirectOutput(properties.resolveSibling("format.log").toFile())
                .start()
                .waitFor();
        if (exit != 0) throw new IOException("formatting the storage failed: see " + properties.getParent());
    }

    private static long count(MBeanServer beans, ObjectName counter) {
        try {
            return beans.isRegistered(counter) ? (long) beans.getAttribute(counter, "Count") : 0;
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Repeatedly writes the same records and reads them back. */
    private static void checkAnswers(Load load, String server) {
        Map<String, Object> producing = Map.of("bootstrap.servers", server);
        Map<String, Object> consuming = Map.of("bootstrap.servers", server, "auto.offset.reset", "earliest");
        TopicPartition partition = new TopicPartition(ANSWERS, 0);
        try (KafkaProducer<Integer, Integer> producer =
                        new KafkaProducer<>(producing, new IntegerSerializer(), new IntegerSerializer());
                KafkaConsumer<Integer, Integer> consumer =
                        new KafkaConsumer<>(consuming, new IntegerDeserializer(), new IntegerDeserializer())) {
            consumer.assign(List.of(partition));
            while (true) {
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                for (int i = 0; i < ANSWERED; i++) sent.add(producer.send(new ProducerRecord<>(ANSWERS, i, i * 31)));
                for (Future<RecordMetadata> each : sent) each.get();
                List<String> read = new ArrayList<>();
                while (read.size() < ANSWERED) {
                    int before = read.size();
                    for (ConsumerRecord<Integer, Integer> entry : consumer.poll(POLL)) {
                        read.add(entry.key() + "=" + entry.value());
                    }
                    if (read.size() == before) break;
                }
                load.answer("records", String.join(",", read));
                Thread.sleep(200);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | RuntimeException e) {
            load.fail(e);
        }
    }
}
