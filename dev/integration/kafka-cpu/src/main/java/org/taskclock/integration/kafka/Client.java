// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A client with a thread of its own, which ends when the client is closed. */
final class Client implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(500);
    private static final byte[][] VALUES = values();

    private interface Step {
        void run() throws Exception;
    }

    /** Requests of a producer, records of a consumer. */
    final AtomicLong count;

    private final Metric throttling;
    private final Thread thread;
    private volatile boolean isClosed;
    private volatile Exception failure;

    private Client(String id, AtomicLong count, Metric throttling, Step step, Step end) {
        this.count = count;
        this.throttling = throttling;
        thread = new Thread(
                () -> {
                    try {
                        while (!isClosed) step.run();
                        end.run();
                    } catch (Exception e) {
                        failure = e;
                    }
                },
                id);
        thread.setDaemon(true);
        thread.start();
    }

    private static byte[][] values() {
        Random random = new Random(1);
        // Words of four letters, so that compression has something to do.
        return Stream.generate(() -> {
                    byte[] value = new byte[200];
                    for (int i = 0; i < value.length; i++) value[i] = (byte) ('a' + random.nextInt(4));
                    return value;
                })
                .limit(1000)
                .toArray(byte[][]::new);
    }

    /** Sends one request with so many records at a time, at most so often per second. */
    static Client producer(String server, String id, String topic, int records, int perSecond) {
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers",
                        server,
                        "client.id",
                        id,
                        "acks",
                        "1",
                        "enable.idempotence",
                        "false",
                        // Only flush sends.
                        "linger.ms",
                        "60000",
                        "delivery.timeout.ms",
                        "240000",
                        // The throttling of the last 5 to 10 seconds, not of the last minute.
                        "metrics.sample.window.ms",
                        "5000",
                        "batch.size",
                        String.valueOf(1 << 20)),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        long[] next = {System.nanoTime()};
        AtomicLong count = new AtomicLong();
        Metric throttling = producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals("produce-throttle-time-avg"))
                .findFirst()
                .orElseThrow();
        return new Client(
                id,
                count,
                throttling,
                () -> {
                    Future<RecordMetadata> last = null;
                    for (int i = 0; i < records; i++) {
                        last = producer.send(new ProducerRecord<>(topic, 0, null, VALUES[i]));
                    }
                    producer.flush();
                    last.get();
                    count.incrementAndGet();
                    // A client that is late does not catch up, so that load does not pile up.
                    next[0] = Math.max(next[0] + 1_000_000_000L / perSecond, System.nanoTime() - 10_000_000);
                    while (System.nanoTime() < next[0]) LockSupport.parkNanos(next[0] - System.nanoTime());
                },
                producer::close);
    }

    /** Reads topics of one partition in one session. */
    static Client consumer(String server, String id, List<String> topics) {
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", server, "client.id", id, "auto.offset.reset", "latest"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        consumer.assign(
                topics.stream().map(topic -> new TopicPartition(topic, 0)).toList());
        AtomicLong count = new AtomicLong();
        return new Client(
                id, count, null, () -> count.addAndGet(consumer.poll(POLL).count()), consumer::close);
    }

    /** Returns by how long the broker says that it delays each response, on average. */
    double throttleMillis() {
        return (double) throttling.metricValue();
    }

    @Override
    public void close() {
        isClosed = true;
        try {
            thread.join(30_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (failure != null) throw new IllegalStateException(thread.getName() + " failed", failure);
    }
}
