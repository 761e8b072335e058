// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.jetty.server.Request;
import org.taskclock.history.DuckDbHistory;
import org.taskclock.monitor.fleet.JvmFleet;
import org.taskclock.monitor.profile.EvidenceTaker;
import org.taskclock.web.http.AccessHandler;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.EventChannel;
import org.taskclock.web.http.Routes;
import org.taskclock.web.http.WebException;
import org.taskclock.web.http.WebServer;
import org.taskclock.web.metrics.ExporterStatus;
import org.taskclock.web.metrics.MetricsEndpoint;
import org.taskclock.web.metrics.OtlpPusher;
import org.taskclock.web.metrics.PrometheusMetrics;
import org.taskclock.web.webhook.Webhooks;

/** Samples all JVMs of this host, records their history, and serves both, from its creation until it is closed. */
public final class TaskClockServer implements AutoCloseable {
    /** The wall-clock time in milliseconds since which JVMs are watched. */
    private final long started;

    private final ServerOptions options;
    private final JvmKeys keys;
    private final JvmFleet fleet;
    private final Overview overview;
    private final EventChannel channel = new EventChannel();
    private final LiveViews views;
    private final HistoryStore store;
    /** Null if the history is not uploaded. */
    private final HistoryUploader uploader;

    private final Profiles profiles;
    private final OpenedRecordings opened;
    private final HistoryApi history;
    private final Marks marks;
    private final JvmActions actions;
    private final ProfileTasks profiling;
    private final EvidenceTaker evidence;
    private final ContinuousProfiler profiler;
    private final ProfileApi profileHistory;
    private final RecordingTasks recordings;
    private final AgentWatch agents;
    private final Webhooks webhooks;
    private final SamplingLoop loop;
    private final MetricsEndpoint metrics;

    /** Null if nothing is pushed. */
    private final OtlpPusher pusher;

    private final Logins logins;
    private final Routes routes;
    private final WebServer web;

    /**
     * Starts a server. Returns before the history is open and JVMs have been found.
     *
     * @param log receives messages of one line
     * @throws WebException if the options cannot be used; the message is the reason, in one line
     */
    public TaskClockServer(ServerOptions options, Consumer<String> log) throws WebException {
        this(options, DuckDbHistory::open, ServerLimits.ofHeap(), log);
    }

    TaskClockServer(ServerOptions options, HistoryStore.Opener opener, ServerLimits limits, Consumer<String> log)
            throws WebException {
        this.options = options;
        started = options.clock().millis();
        keys = new JvmKeys(options.exporter().fleet().kubernetesNode());
        try {
            fleet = new JvmFleet(options.exporter().fleet(), log);
        } catch (IllegalArgumentException e) {
            throw new WebException(e.getMessage());
        }
        ExporterStatus status = new ExporterStatus(options.exporter().version());
        metrics = new MetricsEndpoint(new PrometheusMetrics(fleet, status), limits.budget());
        pusher = OtlpPusher.of(options.exporter(), fleet, status, log);
        overview = new Overview(fleet.processors());
        views = new LiveViews(options.exporter().fleet().attach(), overview);
        store = new HistoryStore(opener, options.data(), options.history(), log);
        uploader = options.historyUpload() == null ? null : new HistoryUploader(options, log);
        EvidenceFiles kept = new EvidenceFiles(
                options.data().resolve("evidence"), options.history().keepMinutes(), options.clock(), store::add);
        evidence = new EvidenceTaker(options.clock(), kept, log);
        profiles = new Profiles(kept, limits.budget(), options.clock());
        opened =
                new OpenedRecordings(options.data().resolve("opened"), limits.openedBytes(), limits.budget(), profiles);
        history = new HistoryApi(store, overview, keys, opened, limits.budget(), options.clock());
        actions = new JvmActions(options.allowsActions(), overview, store, options.clock());
        marks = new Marks(store, history, actions, limits.budget(), options.clock());
        profiling = new ProfileTasks(actions, profiles);
        recordings = new RecordingTasks(
                options.data().resolve("recordings"),
                kept,
                options.history().maxBytes() / 2,
                actions,
                options.bundles(),
                options.exporter().version(),
                keys.host(),
                log);
        agents = new AgentWatch(options.exporter().fleet().attach(), overview, store, options.clock(), log);
        profiler = options.profilePercent() > 0
                ? new ContinuousProfiler(options.profilePercent() / 100, options.clock(), store::add, log)
                : null;
        profileHistory = new ProfileApi(store, history, limits.budget());
        webhooks = new Webhooks(options.webhooks(), this::page, log);
        loop = new SamplingLoop(
                fleet,
                keys,
                overview,
                views,
                channel,
                store,
                options.keepsEvidence() ? evidence : null,
                profiler,
                webhooks,
                options,
                log);
        AuditLog audit = new AuditLog(options.data(), limits.auditBytes(), overview::known, options.clock(), log);
        logins = new Logins(options, audit::watch, log);
        routes = new Routes(log);
        addRoutes();
        web = logins.serve(routes, limits.receiveMillis());
        // The page is available immediately. Opening the history and reading the names of threads takes longer.
        store.start();
        if (options.keepsEvidence()) evidence.start();
        loop.start();
        if (uploader != null) uploader.start();
        agents.start();
        if (pusher != null) pusher.start();
    }

    private void addRoutes() {
        routes.add("GET", AccessHandler.HEALTHY, call -> call.text(200, "TaskClock is healthy.\n"));
        routes.add("GET", "/-/ready", this::sendReadiness);
        routes.add("GET", "/metrics", metrics);
        logins.addTo(routes);
        routes.add("GET", "/api/", call -> call.send(200, Call.HTML, ApiDescription.page()));
        routes.add("GET", "/api/openapi.json", call -> call.json(200, ApiDescription.json()));
        routes.add("GET", "/api/info", call -> call.json(json -> writeInfo(json, call.request)));
        routes.add("GET", "/api/live", channel::add);
        routes.add("GET", "/api/jvms/{id}/live", views::watch);
        routes.add("GET", "/api/events", new ViewEvents(channel, views)::open);
        addRequests(routes, history, opened, actions, recordings, profiling, profiles, marks);
        routes.add("GET", "/api/jvms/{id}/methods", profileHistory::methods);
        routes.add("GET", "/api/jvms/{id}/flame", profileHistory::flame);
    }

    private void sendReadiness(Call call) {
        String problem = loop.problem(System.nanoTime());
        if (problem == null && store.status().problem() != null)
            problem = "history: " + store.status().problem();
        // Not a reason to be restarted, or to get no requests.
        String undelivered = Stream.of(webhooks.problem(), uploader == null ? null : uploader.problem())
                .filter(Objects::nonNull)
                .map(line -> line + "\n")
                .collect(Collectors.joining());
        String text =
                problem == null ? "TaskClock is ready.\n" + undelivered : "TaskClock is not ready: " + problem + "\n";
        call.text(problem == null ? 200 : 503, text);
    }

    /** Adds the requests that are answered immediately, from their parameters and body. */
    static void addRequests(
            Routes routes,
            HistoryApi history,
            OpenedRecordings opened,
            JvmActions actions,
            RecordingTasks recordings,
            ProfileTasks profiling,
            Profiles profiles,
            Marks marks) {
        routes.add("GET", "/api/jvms", history::jvms);
        routes.add("GET", "/api/jvms/{id}/pools", history::pools);
        routes.add("GET", "/api/jvms/{id}/threads", history::threads);
        routes.add("GET", "/api/jvms/{id}/compare", history::compare);
        routes.add("GET", "/api/jvms/{id}/export", history::export);
        routes.add("GET", "/api/jvms/{id}/intervals", opened::interval);
        routes.add("POST", "/api/jvms/{id}/threads/{tid}/stack", actions::stack);
        routes.add("POST", "/api/jvms/{id}/yields", actions::yields);
        routes.add("POST", "/api/jvms/{id}/attach", actions::attach);
        routes.add("POST", "/api/jvms/{id}/detach", actions::detach);
        routes.add("POST", "/api/jvms/{id}/recordings", recordings::start);
        routes.add("POST", "/api/jvms/{id}/bundles", recordings::startBundle);
        routes.add("GET", "/api/recordings", recordings::list);
        routes.add("GET", "/api/recordings/{name}", recordings::download);
        routes.add("POST", "/api/jvms/{id}/profiles", profiling::start);
        routes.add("GET", "/api/profiles", profiles::list);
        routes.add("GET", "/api/profiles/{id}", profiles::show);
        routes.add("GET", "/api/profiles/{id}/flame", profiles::flame);
        routes.add("GET", "/api/profiles/{id}/compare", profiles::compare);
        routes.add("GET", "/api/profiles/{id}/collapsed", profiles::download);
        routes.add("GET", "/api/profiles/{id}/threads", profiles::threads);
        routes.add("GET", "/api/opened", opened::list);
        routes.add("POST", AccessHandler.OPENED, opened::open);
        routes.add("GET", "/api/marks", marks::list);
        routes.add("POST", "/api/marks", marks::add);
    }

    private void writeInfo(JsonWriter json, Request request) throws IOException {
        json.beginObject();
        json.name("version").value(options.exporter().version());
        json.name("host").value(keys.host());
        json.name("processors").value(fleet.processors());
        json.name("actions").value(options.allowsActions() && AccessHandler.mayAct(request));
        json.name("user").value(AccessHandler.loggedIn(request));
        json.name("profiles").value(profiler != null);
        json.name("now").value(options.clock().millis());
        json.name("started").value(started);
        json.name("webhooks").value(webhooks.problem());
        history.writeStatus(json.name("history"));
        IntervalJson.writeColumns(json.name("columns"));
        json.endObject();
    }

    /** Returns the routes of the API, as in {@link Routes#templates}. */
    List<String> routes() {
        return routes.templates();
    }

    /** Returns the address of the page. */
    public String url() {
        return web.url();
    }

    /** Returns the address of the page for people. */
    private String page() {
        return logins.page(web.url(), keys.host());
    }

    /** Stops serving, and writes the remaining history. */
    @Override
    public void close() {
        channel.close();
        views.close();
        web.close();
        agents.close();
        recordings.close();
        profiling.close();
        evidence.close();
        opened.close();
        loop.close();
        webhooks.close();
        if (profiler != null) profiler.close();
        if (uploader != null) uploader.close();
        store.close();
        if (pusher != null) pusher.close();
        fleet.close();
    }
}
