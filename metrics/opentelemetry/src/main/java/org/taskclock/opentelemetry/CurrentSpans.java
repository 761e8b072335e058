// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.logging.Logger;
import org.taskclock.CpuSection;
import org.taskclock.ThreadContext;
import org.taskclock.bindings.CurrentTask;

/** Observes the current span of each thread. */
final class CurrentSpans {
    private static final Logger LOGGER = Logger.getLogger(CurrentSpans.class.getName());

    /** The length of a number of 64 bits. */
    private static final int HEX_DIGITS = 16;

    private static final AtomicBoolean IS_INSTALLED = new AtomicBoolean();
    private static final CopyOnWriteArrayList<Observer> OBSERVERS = new CopyOnWriteArrayList<>();

    /** Set when OpenTelemetry begins to use our wrapper of its storage. */
    private static volatile boolean isObserving;

    private record Observer(CurrentTask current, WeakIdentityMap<Span, ? extends Supplier<CpuSection>> tasks) {
        void update(Span span) {
            current.set(span == null ? null : tasks.get(span));
        }
    }

    private CurrentSpans() {}

    /**
     * Starts to observe, if OpenTelemetry's context has not been used yet.
     *
     * @param current receives the task of the span that becomes current
     * @param tasks the tasks of spans
     */
    static void observe(CurrentTask current, WeakIdentityMap<Span, ? extends Supplier<CpuSection>> tasks) {
        OBSERVERS.addIfAbsent(new Observer(current, tasks));
        if (IS_INSTALLED.compareAndSet(false, true)) ContextStorage.addWrapper(CurrentSpans::wrap);
    }

    private static ContextStorage wrap(ContextStorage storage) {
        isObserving = true;
        return new ObservedStorage(storage);
    }

    /**
     * Returns whether changes are observed. If not, logs a warning.
     *
     * @param what what does not happen then
     * @param hasWarned set to true when this has been logged
     */
    static boolean areObserved(String what, AtomicBoolean hasWarned) {
        if (!isObserving && hasWarned.compareAndSet(false, true))
            LOGGER.warning("TaskClock " + what + ": the program used OpenTelemetry's context before the processor was"
                    + " created: create it earlier");
        return isObserving;
    }

    private static Span of(Context context) {
        return context == null ? null : Span.fromContextOrNull(context);
    }

    /** Returns the task of the span of a context; null if there is none. */
    static <T> T find(WeakIdentityMap<Span, T> tasks, Context context) {
        Span span = of(context);
        return span == null ? null : tasks.get(span);
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
            Span span = of(storage.current());
            for (Observer observer : OBSERVERS) observer.update(span);
            if (ThreadContext.isOn()) publish(span);
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
    private static void publish(Span span) {
        SpanContext ids = (span == null ? Span.getInvalid() : span).getSpanContext();
        ThreadContext.setTrace(
                number(ids.getTraceId(), 0),
                number(ids.getTraceId(), HEX_DIGITS),
                number(ids.getSpanId(), 0),
                ids.getTraceFlags().asByte());
    }

    private static long number(String hex, int start) {
        return Long.parseUnsignedLong(hex, start, start + HEX_DIGITS, 16);
    }
}
