// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.internal.ExtendedSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.DeferredAccount;
import org.taskclock.bindings.AccountContext;
import org.taskclock.bindings.CurrentTask;

/**
 * Counts the CPU time of requests for named accounts, by the attributes of their spans:
 *
 * <pre>{@code
 * SdkTracerProvider.builder()
 *         .addSpanProcessor(SpanAccounts.create())
 *         .setSampler(SpanAccounts.recordingAll(sampler))
 *         ...
 * }</pre>
 *
 * <p>A request is a recorded span of the kind {@code SERVER}, or one without a parent in this process, with all its
 * descendants. Its CPU time is that of all threads while one of these spans is in their current context, also after the
 * request has ended. The type of its account is {@code endpoint}, and the name is the attribute {@code http.route}, or
 * {@code rpc.service} and {@code rpc.method}; that of a server without a route is {@value AccountContext#NO_NAME}. If
 * the request is of the kind {@code CONSUMER}, the type is {@code topic}, and the name is
 * {@code messaging.destination.name}. Without any of these, it counts for no account.
 *
 * <p>The attributes are read when the span of the request ends. Until then, its time is in no row; see
 * {@link DeferredAccount}. Spans that the sampler drops are not counted, hence the second line. On virtual threads
 * without TaskClock's agent, all sections are reported as not counted. Thread-safe.
 */
public final class SpanAccounts implements ExtendedSpanProcessor {
    private static final AttributeKey<String> HTTP_ROUTE = AttributeKey.stringKey("http.route");
    private static final AttributeKey<String> RPC_SERVICE = AttributeKey.stringKey("rpc.service");
    private static final AttributeKey<String> RPC_METHOD = AttributeKey.stringKey("rpc.method");
    private static final AttributeKey<String> DESTINATION = AttributeKey.stringKey("messaging.destination.name");

    /**
     * A request.
     *
     * @param spanId the id of its span; a reference to the span would keep it in the map
     */
    private record Request(String spanId, DeferredAccount account) implements Supplier<CpuSection> {
        @Override
        public CpuSection get() {
            return account.enter();
        }
    }

    private static final CurrentTask CURRENT = new CurrentTask();

    /** The requests that spans belong to, also if they have ended: their contexts may still become current. */
    private static final WeakIdentityMap<Span, Request> REQUESTS = new WeakIdentityMap<>();

    private final AtomicBoolean hasWarned = new AtomicBoolean();

    private SpanAccounts() {}

    /**
     * Creates the processor and starts to observe the current contexts of threads. Call this before the program first
     * uses a {@link Context}. Otherwise, OpenTelemetry ignores the observer, and the processor logs a warning when the
     * first span starts and counts nothing.
     *
     * @return the processor; add it to one tracer provider
     */
    public static SpanAccounts create() {
        CurrentSpans.observe(CURRENT, REQUESTS);
        return new SpanAccounts();
    }

    /**
     * Returns a sampler that also records the spans which another one drops, so that they count. They are not exported,
     * and the decision that is passed to other services stays the same. A recorded span costs as much as a sampled one,
     * except for its export.
     *
     * @param sampler decides which spans are exported
     * @return the sampler
     */
    public static Sampler recordingAll(Sampler sampler) {
        return new RecordingSampler(sampler);
    }

    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {
        if (!CurrentSpans.areObserved("counts no spans for accounts", hasWarned)) return;
        boolean isServer = span.getKind() == SpanKind.SERVER;
        Request request = isServer ? null : CurrentSpans.find(REQUESTS, parentContext);
        REQUESTS.put(span, request == null ? newRequest(span) : request);
    }

    private static Request newRequest(ReadableSpan span) {
        String type = span.getKind() == SpanKind.CONSUMER ? "topic" : "endpoint";
        return new Request(
                span.getSpanContext().getSpanId(), CpuAccounts.type(type).deferred());
    }

    @Override
    public boolean isStartRequired() {
        return true;
    }

    @Override
    public void onEnding(ReadWriteSpan span) {
        Request request = REQUESTS.get(span);
        if (request != null && request.spanId.equals(span.getSpanContext().getSpanId()))
            request.account.assign(name(span));
    }

    /** Returns the name of the account; null if there is none. */
    private static String name(ReadableSpan span) {
        if (span.getKind() == SpanKind.CONSUMER) return span.getAttribute(DESTINATION);
        String route = span.getAttribute(HTTP_ROUTE);
        if (route != null) return route;
        String method = span.getAttribute(RPC_METHOD);
        if (method == null) return span.getKind() == SpanKind.SERVER ? AccountContext.NO_NAME : null;
        // Newer conventions have no service. The name of the method contains it.
        String service = span.getAttribute(RPC_SERVICE);
        return service == null ? method : service + "/" + method;
    }

    @Override
    public boolean isOnEndingRequired() {
        return true;
    }

    @Override
    public void onEnd(ReadableSpan span) {}

    @Override
    public boolean isEndRequired() {
        return false;
    }
}
