// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.internal.ExtendedSpanProcessor;
import java.util.concurrent.atomic.AtomicBoolean;
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
    public static final AttributeKey<Double> CPU_TIME = AttributeKey.doubleKey("taskclock.thread.cpu.time");

    /** The CPU time, in seconds, of the span itself. */
    public static final AttributeKey<Double> SELF_TIME = AttributeKey.doubleKey("taskclock.thread.cpu.self_time");

    private static final CurrentTask CURRENT = new CurrentTask();

    /** The tasks of the spans that have not ended. All processors share the threads, so they share the tasks. */
    private static final WeakIdentityMap<Span, NestedTask> TASKS = new WeakIdentityMap<>();

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
        CurrentSpans.observe(CURRENT, TASKS);
        return new SpanCpuTime();
    }

    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {
        if (CurrentSpans.areObserved("adds no CPU time to spans", hasWarned))
            TASKS.put(span, new NestedTask(CurrentSpans.find(TASKS, parentContext)));
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
