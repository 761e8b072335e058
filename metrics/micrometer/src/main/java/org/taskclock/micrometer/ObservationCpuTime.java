// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationView;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.taskclock.bindings.CurrentTask;
import org.taskclock.bindings.NestedTask;

/**
 * Records the CPU time of each observation:
 *
 * <pre>{@code
 * ObservationCpuTime cpuTime = new ObservationCpuTime(meterRegistry);
 * observationRegistry.observationConfig().observationHandler(cpuTime);
 * observationRegistry.observationConfig().observationFilter(cpuTime);     // optional
 * }</pre>
 *
 * <p>As a handler, it adds a timer to Micrometer's own timer of each observation, with the same tags and the name
 * followed by {@code .cpu.time}. As a filter, it adds the key value {@value #KEY}, in milliseconds, with a high
 * cardinality, for traces and logs.
 *
 * <p>Counted is the CPU time of all threads while the innermost scope on the thread is one of the observation, plus the
 * CPU time of those observations within it that have stopped before it. Code that passes observations to other threads,
 * such as Micrometer's context propagation, opens scopes there. An observation without scopes has a CPU time of 0. If a
 * scope is on a virtual thread without TaskClock's agent, the observation's CPU time is unknown and not recorded, nor
 * is that of the observations around it.
 *
 * <p>Thread-safe.
 */
public final class ObservationCpuTime implements ObservationHandler<Observation.Context>, ObservationFilter {
    /** The key of the value that the filter adds. */
    public static final String KEY = "cpu.time.ms";

    /** The name of a timer is that of the observation with this suffix. */
    public static final String TIMER_SUFFIX = ".cpu.time";

    /** Stands for no task in the list of scopes. */
    private static final Object NO_TASK = ObservationCpuTime.class.getName();

    private final MeterRegistry registry;
    private final CurrentTask current = new CurrentTask();

    /** The tasks of the scopes that are open on each thread, the innermost first. Removed when it becomes empty. */
    @SuppressWarnings("ThreadLocalUsage") // handlers are few, and live as long as their registries
    private final ThreadLocal<Deque<Object>> scopes = new ThreadLocal<>();

    /**
     * Creates a handler.
     *
     * @param registry the registry for the timers
     */
    public ObservationCpuTime(MeterRegistry registry) {
        if (registry == null) throw new NullPointerException("registry");
        this.registry = registry;
    }

    /** The state of an observation in its context. */
    private static final class State {
        private final NestedTask task;
        /** Set when the observation stops; -1 if unknown. */
        private Long totalNanos;

        State(NestedTask task) {
            this.task = task;
        }

        /** The filter and the handler are called one after the other. */
        synchronized long end() {
            if (totalNanos == null) totalNanos = task.end().totalNanos();
            return totalNanos;
        }
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return true;
    }

    @Override
    public void onStart(Observation.Context context) {
        ObservationView parent = context.getParentObservation();
        State state = parent == null ? null : parent.getContextView().get(this);
        context.put(this, new State(new NestedTask(state == null ? null : state.task)));
    }

    @Override
    public void onScopeOpened(Observation.Context context) {
        Deque<Object> open = scopes.get();
        if (open == null) {
            open = new ArrayDeque<>();
            scopes.set(open);
        }
        open.push(taskOrNone(context));
        switchToInnermost(open);
    }

    @Override
    public void onScopeClosed(Observation.Context context) {
        Deque<Object> open = scopes.get();
        if (open == null) return;
        open.removeFirstOccurrence(taskOrNone(context));
        switchToInnermost(open);
    }

    /** All scopes of the thread are reset together. Then those that are to be open are opened again. */
    @Override
    @SuppressWarnings("deprecation") // but Micrometer still calls it
    public void onScopeReset(Observation.Context context) {
        Deque<Object> open = scopes.get();
        if (open == null) return;
        open.clear();
        switchToInnermost(open);
    }

    /** Micrometer opens the scope of a null observation, which never starts, where none is to be current. */
    private Object taskOrNone(Observation.Context context) {
        State state = context.get(this);
        return state == null ? NO_TASK : state.task;
    }

    private void switchToInnermost(Deque<Object> open) {
        if (open.isEmpty()) scopes.remove();
        current.set(open.peek() instanceof NestedTask task ? task : null);
    }

    @Override
    public Observation.Context map(Observation.Context context) {
        State state = context.get(this);
        long nanos = state == null ? -1 : state.end();
        return nanos < 0
                ? context
                : context.addHighCardinalityKeyValue(KeyValue.of(KEY, String.format(Locale.ROOT, "%.3f", nanos / 1e6)));
    }

    @Override
    public void onStop(Observation.Context context) {
        State state = context.get(this);
        long nanos = state == null ? -1 : state.end();
        if (nanos < 0) return;
        List<Tag> tags = new ArrayList<>();
        for (KeyValue each : context.getLowCardinalityKeyValues()) tags.add(Tag.of(each.getKey(), each.getValue()));
        Throwable error = context.getError();
        tags.add(Tag.of("error", error == null ? "none" : error.getClass().getSimpleName()));
        registry.timer(context.getName() + TIMER_SUFFIX, tags).record(nanos, TimeUnit.NANOSECONDS);
    }
}
