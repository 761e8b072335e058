// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.taskclock.CpuAccounts;

/** Kafka's own clients without a broker. */
class TopicAccountsTest {
    private final CountedWork work = new CountedWork();
    private final CountedWork otherWork = new CountedWork();

    private static ConsumerRecords<String, String> poll(int count, String... topics) {
        MockConsumer<String, String> consumer = new MockConsumer<>("earliest");
        List<TopicPartition> partitions = List.of(topics).stream()
                .map(topic -> new TopicPartition(topic, 0))
                .toList();
        consumer.assign(partitions);
        for (TopicPartition partition : partitions) {
            consumer.updateBeginningOffsets(Map.of(partition, 0L));
            for (int i = 0; i < count; i++)
                consumer.addRecord(new ConsumerRecord<>(partition.topic(), 0, i, "key", "value"));
        }
        return consumer.poll(Duration.ofSeconds(1));
    }

    @Test
    void shouldCountTheProcessingOfEachRecord() {
        // example: kafka-consumer
        try (TopicRecords<String, String> records = TopicAccounts.records(poll(8, "orders", "prices"))) {
            for (ConsumerRecord<String, String> record : records) process(record);
        }
        // end
        otherWork.repeat(10);
        assertThat(work.portions()).isEqualTo(8);
        work.assertCounted("topic", "orders", 8);
        CountedWork prices = new CountedWork();
        prices.repeat(16);
        prices.assertCounted("topic", "prices", 8);
    }

    private void process(ConsumerRecord<String, String> record) {
        if (record.topic().equals("orders")) work.run();
        else otherWork.repeat(2);
    }

    @Test
    void shouldCloseTheSectionOfALoopThatEndsEarly() {
        assertThatThrownBy(() -> {
                    try (TopicRecords<String, String> records = TopicAccounts.records(poll(8, "failing"))) {
                        for (ConsumerRecord<String, String> record : records) {
                            work.run();
                            if (record.offset() == 5) throw new IllegalArgumentException("bad order");
                        }
                    }
                })
                .hasMessage("bad order");
        otherWork.repeat(20);
        assertThat(work.portions()).isEqualTo(6);
        work.assertCounted("topic", "failing", 6);
        assertThat(AccountContext.current()).isSameAs(AccountContext.EMPTY);
    }

    /** Counts with the record, not with the batch before it or what is done after it. */
    @Test
    void shouldEndASectionWithoutClosing() {
        TopicRecords<String, String> records = TopicAccounts.records(poll(3, "finished"));
        for (ConsumerRecord<String, String> record : records) work.run(record.value());
        otherWork.repeat(20);
        work.assertCounted("topic", "finished", 3);
        records.close();
        assertThat(CpuAccounts.type("topic").of("finished").now().isComplete()).isTrue();
    }

    private static ProducerRecord<String, String> record(String value) {
        return new ProducerRecord<>("sent", "key", value);
    }

    @Test
    void shouldCountSendingAndItsCallback() throws Exception {
        Serializer<String> serializer = (topic, value) -> {
            work.run();
            if (value.isEmpty()) throw new SerializationException("bad order");
            return new byte[10];
        };
        MockProducer<String, String> target = new MockProducer<>(false, null, new StringSerializer(), serializer);
        ExecutorService sender = Executors.newSingleThreadExecutor();
        try (Producer<String, String> producer = TopicAccounts.wrap(target)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < 4; i++) sent.add(producer.send(record("value"), (metadata, failure) -> work.run()));
            sent.add(producer.send(record("value")));
            sent.add(producer.send(record("value"), null));
            assertThat(sent).doesNotContainNull();
            assertThatThrownBy(() -> producer.send(record("")))
                    .isInstanceOf(SerializationException.class)
                    .hasMessage("bad order");
            sender.submit(() -> {
                        otherWork.repeat(20);
                        while (target.completeNext()) otherWork.run();
                    })
                    .get();
        } finally {
            sender.shutdown();
        }
        assertThat(target.history()).hasSize(6);
        assertThat(target.closed()).isTrue();
        assertThat(work.portions()).isEqualTo(11);
        work.assertCounted("topic", "sent", 11);
    }
}
