// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Monitorable;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.server.metrics.RequestObserver;
import org.taskclock.CpuAccount;
import org.taskclock.CpuSection;

/**
 * Counts the CPU time of the request handler threads by request type, client id, and topic:
 * {@code metric.reporters=org.apache.kafka.common.metrics.JmxReporter,org.taskclock.integration.kafka.RequestCpu}. The
 * metrics are called {@code cpu-time-ns-total}. In each dimension they add up to the CPU time of the threads, because a
 * thread always has one section open in each.
 */
public final class RequestCpu implements RequestObserver, Monitorable {
    static final String METRIC = "cpu-time-ns-total";
    /** The time between requests, in each dimension. */
    static final String WAITING = "(waiting)";
    /** The time within requests that is not spent on the log of a topic. */
    static final String NO_TOPIC = "(none)";

    private static final String MAX_SERIES = "request.cpu.max.series";
    private static final int DEFAULT_MAX_SERIES = 100;

    /** The open sections of one thread. */
    private final class Sections {
        CpuSection request = requests.account(WAITING).enter();
        CpuSection client = clients.account(WAITING).enter();
        CpuSection topic = topics.account(WAITING).enter();

        void enter(CpuAccount nextRequest, CpuAccount nextClient, CpuAccount nextTopic) {
            request.close();
            request = nextRequest.enter();
            client.close();
            client = nextClient.enter();
            enter(nextTopic);
        }

        void enter(CpuAccount nextTopic) {
            topic.close();
            topic = nextTopic.enter();
        }
    }

    private final ThreadLocal<Sections> sections = ThreadLocal.withInitial(Sections::new);
    private int maxSeries = DEFAULT_MAX_SERIES;
    private AccountSeries requests;
    private AccountSeries clients;
    private AccountSeries topics;

    @Override
    public void configure(Map<String, ?> configuration) {
        Object value = configuration.get(MAX_SERIES);
        if (value != null) maxSeries = Integer.parseInt(value.toString());
    }

    /** The broker calls this before the first request. */
    @Override
    public void withPluginMetrics(PluginMetrics metrics) {
        requests = new AccountSeries(metrics, "request", maxSeries);
        clients = new AccountSeries(metrics, "client-id", maxSeries);
        topics = new AccountSeries(metrics, "topic", maxSeries);
    }

    @Override
    public void requestStarted(RequestContext context) {
        String client = context.header.clientId();
        sections.get()
                .enter(
                        requests.account(context.header.apiKey().name),
                        clients.account(client == null ? "" : client),
                        topics.account(NO_TOPIC));
    }

    @Override
    public void requestEnded() {
        sections.get().enter(requests.account(WAITING), clients.account(WAITING), topics.account(WAITING));
    }

    @Override
    public void topicStarted(String topic) {
        sections.get().enter(topics.account(topic));
    }

    @Override
    public void topicEnded() {
        sections.get().enter(topics.account(NO_TOPIC));
    }

    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}
}
