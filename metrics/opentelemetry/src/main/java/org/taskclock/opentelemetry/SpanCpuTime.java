// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.internal.ExtendedSpanProcessor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Logger;
import org.taskclock.ThreadContext;
import org.taskclock.bindings.CurrentTask;
import org.taskclock.bindings.NestedTask;
import org.taskclock.bindings.TaskUsage;

/**
 * Adds the CPU time of each recorded span as attributes:
 *
 * <pre>{@code
 * SdkTracerProvider.builder()
 *         .addSpanProcessor(SpanCpuTime.create())
 *         ...
 * }</pre>
 *
 * <p>{@link #SELF_TIME} is the CPU time of all threads while the span is in their current context. {@link #CPU_TIME}
 * adds that of its descendants in this process that ended before it. If the context of one of these spans is current on
 * a virtual thread without TaskClock's agent, the attributes that this would affect are left out. A span that is never
 * made current has a CPU time of 0.
 *
 * <p>Each change of a thread's current span closes a section of a {@link org.taskclock.CpuAccount} and enters another.
 * If contexts of threads are published to profilers (see {@link ThreadContext}), the ids of the span are, too.
 * Thread-safe.
 */
public final class SpanCpuTime implements ExtendedSpanProcessor {
    /** The CPU time, in seconds, of the span with its descendants in this process that ended before it. */
    public static final AttributeKey<Double> CPU_TIME = AttributeKey.doubleKey("thread.cpu.time");

    /** The CPU time, in seconds, of the span itself. */
    public static final AttributeKey<Double> SELF_TIME = AttributeKey.doubleKey("thread.cpu.self_time");

    private static final Logger LOGGER = Logger.getLogger(SpanCpuTime.class.getName());

    /** The length of a number of 64 bits. */
    private static final int HEX_DIGITS = 16;

    private static final AtomicBoolean IS_INSTALLED = new AtomicBoolean();
    private static final CurrentTask CURRENT = new CurrentTask();

    /** The tasks of the spans that have not ended. All processors share the threads, so they share the tasks. */
    private static final WeakIdentityMap<Span, NestedTask> TASKS = new WeakIdentityMap<>();

    /** Set when OpenTelemetry begins to use our wrapper of its storage. */
    private static volatile boolean isObserving;

    private final AtomicBoolean hasWarned = new AtomicBoolean();

    private SpanCpuTime() {}

    /**
     * Creates the processor and starts to observe the current contexts of threads. Call this before the program first
     * uses a {@link Context}. Otherwise, OpenTelemetry ignores the observer, and the processor logs a warning when the
     * first span starts and adds no attributes.
     *
     * @return the processor; add it to one tracer provider
     */
    public static SpanCpuTime create() {
        if (IS_INSTALLED.compareAndSet(false, true)) ContextStorage.addWrapper(SpanCpuTime::observe);
        return new SpanCpuTime();
    }

    private static ContextStorage observe(ContextStorage storage) {
        isObserving = true;
        return new ObservedStorage(storage);
    }

    /** A storage that reports each change of a thread's context. */
    private record ObservedStorage(ContextStorage storage) implements ContextStorage {
        @Override
        public Scope attach(Context context) {
            Scope scope = storage.attach(context);
            if (scope == Scope.noop()) return scope;
            update();
            return () -> {
                scope.close();
                // Nothing has changed if it was closed in the wrong order or on another thread.
                update();
            };
        }

        private void update() {
            Context current = storage.current();
            CURRENT.set(taskOf(current));
            if (ThreadContext.isOn()) publish(current);
        }

        @Override
        public Context current() {
            return storage.current();
        }

        @Override
        public Context root() {
            return storage.root();
        }
    }

    /** Publishes the span to profilers outside the process. The ids of no span are 0. */
    private static void publish(Context context) {
        Span span = context == null ? Span.getInvalid() : Span.fromContext(context);
        SpanContext ids = span.getSpanContext();
        ThreadContext.setTrace(
                number(ids.getTraceId(), 0),
                number(ids.getTraceId(), HEX_DIGITS),
                number(ids.getSpanId(), 0),
                ids.getTraceFlags().asByte());
    }

    private static long number(String hex, int start) {
        return Long.parseUnsignedLong(hex, start, start + HEX_DIGITS, 16);
    }

    private static NestedTask taskOf(Context context) {
        Span span = context == null ? null : Span.fromContextOrNull(context);
        return span == null ? null : TASKS.get(span);
    }

    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {
        if (isObserving) TASKS.put(span, new NestedTask(taskOf(parentContext)));
        else if (hasWarned.compareAndSet(false, true))
            LOGGER.warning("TaskClock adds no CPU time to spans: the program used OpenTelemetry's context before"
                    + " SpanCpuTime.create(): call it earlier");
    }

    @Override
    public boolean isStartRequired() {
        return true;
    }

    @Override
    public void onEnding(ReadWriteSpan span) {
        NestedTask task = TASKS.remove(span);
        if (task == null) return;
        TaskUsage usage = task.end();
        if (usage.totalNanos() >= 0) span.setAttribute(CPU_TIME, usage.totalNanos() / 1e9);
        if (usage.selfNanos() >= 0) span.setAttribute(SELF_TIME, usage.selfNanos() / 1e9);
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
