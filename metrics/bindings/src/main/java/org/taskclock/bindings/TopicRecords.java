// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.util.Iterator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;

/**
 * Records whose processing is counted by topic; see {@link TopicAccounts#records}. Each record that is processed is a
 * section, which ends when the iterator is asked for the next record or for whether there is one. Therefore a loop that
 * may end early, for example with an exception, needs {@link #close()}.
 *
 * <p>To be used by one thread. What other threads do for a record counts only where the {@link AccountContext} is
 * carried.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class TopicRecords<K, V> implements Iterable<ConsumerRecord<K, V>>, AutoCloseable {
    private final ConsumerRecords<K, V> records;
    private AccountScope scope;

    TopicRecords(ConsumerRecords<K, V> records) {
        if (records == null) throw new NullPointerException("records");
        this.records = records;
    }

    @Override
    public Iterator<ConsumerRecord<K, V>> iterator() {
        Iterator<ConsumerRecord<K, V>> iterator = records.iterator();
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                TopicRecords.this.close();
                return iterator.hasNext();
            }

            @Override
            public ConsumerRecord<K, V> next() {
                TopicRecords.this.close();
                ConsumerRecord<K, V> next = iterator.next();
                scope = TopicAccounts.enter(next.topic());
                return next;
            }
        };
    }

    /** Ends the section of the last record, if it is open. */
    @Override
    public void close() {
        if (scope == null) return;
        scope.close();
        scope = null;
    }
}
