// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.lang.reflect.Method;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.taskclock.CpuAccounts;

/**
 * Counts the CPU time of Kafka clients by topic, for accounts of the type {@code topic}:
 *
 * <pre>{@code
 * try (TopicRecords<K, V> records = TopicAccounts.records(consumer.poll(timeout))) {
 *     for (ConsumerRecord<K, V> record : records) process(record);
 * }
 * Producer<K, V> counted = TopicAccounts.wrap(producer);
 * }</pre>
 *
 * <p>Interceptors of Kafka cannot count: they are called at a point in time, before a consumer's records are processed
 * and before a producer's record is serialized, not around it. Not counted is what the clients do for all topics
 * together: polling, which includes decompressing and deserializing, and the producer's I/O thread.
 *
 * <p>Thread-safe.
 */
public final class TopicAccounts {
    private TopicAccounts() {}

    static AccountScope enter(String topic) {
        return AccountContext.enter(AccountContext.account(CpuAccounts.type("topic"), topic));
    }

    /**
     * Returns the records of a poll, so that the thread that iterates counts for the topic of each record from when it
     * gets the record until it asks for the next one.
     *
     * @param <K> the type of the keys
     * @param <V> the type of the values
     * @param records what {@code poll} returned
     * @return the same records, to be closed on the thread that iterates
     */
    public static <K, V> TopicRecords<K, V> records(ConsumerRecords<K, V> records) {
        return new TopicRecords<>(records);
    }

    /**
     * Wraps a producer so that {@code send} counts for the topic of the record, as far as it runs on the calling
     * thread: interceptors, the serializers, the partitioner, and compression into the batch. The callback of
     * {@code send} counts, too, on the producer's I/O thread.
     *
     * @param <K> the type of the keys
     * @param <V> the type of the values
     * @param producer the producer
     * @return the wrapped producer; closing it closes the producer
     */
    @SuppressWarnings("unchecked")
    public static <K, V> Producer<K, V> wrap(Producer<K, V> producer) {
        return new ProducerHandler(producer).proxy(Producer.class);
    }

    @SuppressWarnings("try") // the scopes only need to be open
    private static final class ProducerHandler extends ForwardingHandler {
        ProducerHandler(Producer<?, ?> producer) {
            super(producer);
        }

        @Override
        Object call(Object proxy, Method method, Object[] arguments) throws ReflectiveOperationException {
            if (!method.getName().equals("send")) return forward(method, arguments);
            String topic = ((ProducerRecord<?, ?>) arguments[0]).topic();
            if (arguments.length > 1 && arguments[1] instanceof Callback callback)
                arguments[1] = counted(callback, topic);
            try (AccountScope scope = enter(topic)) {
                return forward(method, arguments);
            }
        }

        private static Callback counted(Callback callback, String topic) {
            return (metadata, failure) -> {
                try (AccountScope scope = enter(topic)) {
                    callback.onCompletion(metadata, failure);
                }
            };
        }
    }
}
