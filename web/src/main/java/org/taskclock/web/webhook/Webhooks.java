// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.finding.DatedFinding;

/** Sends the findings of all JVMs to receivers. Thread-safe. */
public final class Webhooks implements AutoCloseable {
    private final FindingAlerts alerts = new FindingAlerts();
    private final List<WebhookSender> senders;
    private boolean isClosed;

    /**
     * Starts sending.
     *
     * @param page the address of the page, for links
     * @param log receives one line when a receiver cannot be reached
     */
    public Webhooks(List<WebhookTarget> targets, Supplier<String> page, Consumer<String> log) {
        this(targets, page, WebhookSender.Pace.DEFAULT, log);
    }

    Webhooks(List<WebhookTarget> targets, Supplier<String> page, WebhookSender.Pace pace, Consumer<String> log) {
        senders = targets.stream()
                .map(target -> new WebhookSender(target, page, pace, log))
                .toList();
        senders.forEach(WebhookSender::start);
    }

    /**
     * Adds the findings of this moment. Never waits for a receiver.
     *
     * @param running the JVMs that have not ended, with their findings
     */
    public synchronized void update(Map<JvmKey, List<DatedFinding>> running, Instant now) {
        if (senders.isEmpty() || isClosed) return;
        List<FindingAlert> renewed = alerts.renew(now);
        List<FindingAlert> changed = alerts.update(running, now);
        for (WebhookSender sender : senders) {
            if (sender.renews()) sender.add(renewed);
            sender.add(changed);
        }
    }

    /** Returns why findings do not reach a receiver; null if they reach all. */
    public String problem() {
        String problems = senders.stream()
                .map(WebhookSender::problem)
                .filter(Objects::nonNull)
                .collect(Collectors.joining("; "));
        return problems.isEmpty() ? null : problems;
    }

    /** Reports the findings that last as ended, as nobody else could say when they end. */
    @Override
    public void close() {
        synchronized (this) {
            if (!isClosed) senders.forEach(sender -> sender.add(alerts.stop()));
            isClosed = true;
        }
        senders.forEach(WebhookSender::close);
    }
}
