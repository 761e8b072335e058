// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.server.metrics.RequestObserver;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;

/**
 * Counts the CPU time of the request handler threads by request type, client id, and topic:
 * {@code metric.reporters=org.apache.kafka.common.metrics.JmxReporter,org.taskclock.integration.kafka.RequestCpu}. The
 * accounts of each type add up to the CPU time of the threads, because a thread always has a section open in each.
 */
public final class RequestCpu implements RequestObserver {
    /** The time between requests, in each type. */
    static final String WAITING = "(waiting)";
    /** The time within requests that is not spent on the log of a topic. */
    static final String NO_TOPIC = "(none)";

    private static final AccountType REQUESTS = CpuAccounts.type("request");
    private static final AccountType CLIENTS = CpuAccounts.type("client-id");
    private static final AccountType TOPICS = CpuAccounts.type("topic");

    /** The open sections of a thread, innermost first, within those for waiting, which stay open. */
    private static final ThreadLocal<ArrayDeque<CpuSection>> SECTIONS = ThreadLocal.withInitial(() -> {
        for (AccountType type : List.of(REQUESTS, CLIENTS, TOPICS))
            type.of(WAITING).enter();
        return new ArrayDeque<>();
    });

    @Override
    public void requestStarted(RequestContext context) {
        String client = context.header.clientId();
        enter(REQUESTS, context.header.apiKey().name);
        enter(CLIENTS, client == null ? "" : client);
        enter(TOPICS, NO_TOPIC);
    }

    @Override
    public void requestEnded() {
        for (int i = 0; i < 3; i++) leave();
    }

    @Override
    public void topicStarted(String topic) {
        enter(TOPICS, topic);
    }

    @Override
    public void topicEnded() {
        leave();
    }

    private static void enter(AccountType type, String name) {
        ArrayDeque<CpuSection> sections = SECTIONS.get();
        sections.push(type.of(name).enter());
    }

    private static void leave() {
        SECTIONS.get().pop().close();
    }

    @Override
    public void configure(Map<String, ?> configuration) {}

    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}
}
