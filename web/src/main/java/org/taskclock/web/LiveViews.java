// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.fleet.JvmSample;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.EventChannel;

/**
 * The JVMs that are watched thread by thread: those that browsers show, and without a browser those that use CPU time,
 * in turn, because some problems show only in threads and their stacks. Thread-safe.
 */
final class LiveViews implements AutoCloseable {
    /** Watching more JVMs at the same time would cost too much. */
    static final int MAX_VIEWS = 50;

    /** How many JVMs to look at, at the same time, without a browser. */
    private static final int MAX_LOOKS = 3;

    /** A JVM that uses less CPU time is not looked at. */
    private static final double MIN_PROCESSORS = 0.05;

    /** The time between two looks at a JVM. Problems are remembered for longer. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final boolean attach;
    private final Overview overview;
    private final Map<String, LiveView> views = new HashMap<>();

    private boolean isClosed;

    /** When the last view of each JVM ended, as of System.nanoTime. */
    private final Map<String, Long> rested = new HashMap<>();

    LiveViews(boolean attach, Overview overview) {
        this.attach = attach;
        this.overview = overview;
    }

    /** Starts sending the intervals of a JVM to a browser. */
    void watch(Call call) throws ApiException {
        watch(call.path("id"), "true".equals(call.parameter("java")), channel -> channel.add(call));
    }

    /**
     * Adds a browser to those that watch a JVM.
     *
     * @param add adds it to the channel
     */
    void watch(String id, boolean needsJavaStatus, Consumer<EventChannel> add) throws ApiException {
        JvmKey key = overview.running(id);
        if (key == null) throw ApiException.notFound("no such JVM is running: see /api/jvms");
        synchronized (this) {
            LiveView view = views.get(key.id());
            if (view == null) {
                if (views.size() >= MAX_VIEWS)
                    throw new ApiException(503, MAX_VIEWS + " JVMs are being watched: close a page that watches one");
                view = start(key);
            }
            if (needsJavaStatus) view.watchJavaStatus();
            // Must happen here, because the view ends if it has no browser for some seconds.
            add.accept(view.channel);
        }
    }

    private LiveView start(JvmKey key) {
        LiveView view = new LiveView(key, attach, overview, this::remove);
        views.put(key.id(), view);
        view.start();
        return view;
    }

    /**
     * Looks at the busiest JVM that is not being watched and has not been for a while, if there is one. If there are
     * too many, it makes the oldest look end.
     */
    synchronized void look(List<Overview.KeyedSample> samples) {
        long now = System.nanoTime();
        rested.values().removeIf(end -> now - end > REST_NANOS);
        Overview.KeyedSample next = samples.stream()
                .filter(keyed -> !keyed.sample().jvm().hasEnded())
                .filter(keyed -> processors(keyed.sample()) >= MIN_PROCESSORS)
                .filter(keyed -> !views.containsKey(keyed.key().id())
                        && !rested.containsKey(keyed.key().id()))
                .max(Comparator.comparingDouble(keyed -> processors(keyed.sample())))
                .orElse(null);
        if (next == null || isClosed) return;
        long looks =
                views.values().stream().filter(view -> view.channel.isEmpty()).count();
        if (looks < MAX_LOOKS && views.size() < MAX_VIEWS) start(next.key());
        else
            views.values().stream()
                    .filter(LiveView::isReplaceable)
                    .min(Comparator.comparingLong(LiveView::started))
                    .ifPresent(LiveView::replace);
    }

    private static double processors(JvmSample sample) {
        return (double) sample.process().cpuNanos() / Math.max(1, sample.intervalNanos());
    }

    private synchronized void remove(LiveView view) {
        if (views.remove(view.key.id(), view)) rested.put(view.key.id(), System.nanoTime());
    }

    @Override
    public void close() {
        List<LiveView> all;
        synchronized (this) {
            isClosed = true;
            all = new ArrayList<>(views.values());
        }
        all.forEach(LiveView::close);
    }
}
