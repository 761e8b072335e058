// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.taskclock.history.JvmKey;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.EventChannel;

/** The JVMs that browsers watch. Thread-safe. */
final class LiveViews implements AutoCloseable {
    /** Watching more JVMs at the same time would cost too much. */
    static final int MAX_VIEWS = 50;

    private final boolean attach;
    private final Overview overview;
    private final Map<String, LiveView> views = new HashMap<>();

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
                view = new LiveView(key, attach, overview, this::remove);
                views.put(key.id(), view);
                view.start();
            }
            if (needsJavaStatus) view.watchJavaStatus();
            // Must happen here, because the view ends if it has no browser for some seconds.
            add.accept(view.channel);
        }
    }

    private synchronized void remove(LiveView view) {
        views.remove(view.key.id(), view);
    }

    @Override
    public void close() {
        List<LiveView> all;
        synchronized (this) {
            all = new ArrayList<>(views.values());
        }
        all.forEach(LiveView::close);
    }
}
