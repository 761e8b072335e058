// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

import com.google.gson.JsonElement;
import com.google.gson.stream.JsonWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.taskclock.exporter.ExporterException;
import org.taskclock.exporter.ExporterStatus;
import org.taskclock.exporter.JvmFleet;
import org.taskclock.exporter.PrometheusMetrics;
import org.taskclock.exporter.WebConfig;
import org.taskclock.history.DuckDbHistory;

/** Samples all JVMs of this host, keeps their history, and serves both, from its creation until it is closed. */
public final class TaskClockServer implements AutoCloseable {
    private static final String TEXT = "text/plain; charset=utf-8";

    /** The wall-clock time in milliseconds since which JVMs are watched. */
    private final long started;

    private final ServerOptions options;
    private final JvmKeys keys = new JvmKeys();
    private final JvmFleet fleet;
    private final Overview overview;
    private final EventChannel channel = new EventChannel();
    private final LiveViews views;
    private final HistoryStore store;
    private final OpenedRecordings opened = new OpenedRecordings();
    private final HistoryApi history;
    private final JvmActions actions;
    private final RecordingTasks recordings;
    private final AgentWatch agents;
    private final SamplingLoop loop;
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final ExpositionFormats formats = ExpositionFormats.init();
    private final Token token;
    private final Routes routes;
    private final WebServer web;

    /**
     * Starts a server. The history is opened, and JVMs are found, after this has returned.
     *
     * @param log receives messages of one line
     * @throws ServerException if the options cannot be used; the message is the reason, in one line
     */
    public TaskClockServer(ServerOptions options, Consumer<String> log) throws ServerException {
        this(options, DuckDbHistory::open, log);
    }

    TaskClockServer(ServerOptions options, HistoryStore.Opener opener, Consumer<String> log) throws ServerException {
        this.options = options;
        started = options.clock().millis();
        WebConfig config;
        ExporterStatus status = new ExporterStatus(options.exporter().version());
        try {
            config = options.exporter().webConfig() == null
                    ? WebConfig.NONE
                    : WebConfig.read(options.exporter().webConfig());
            fleet = new JvmFleet(options.exporter(), status, log);
        } catch (ExporterException e) {
            throw new ServerException(e.getMessage());
        }
        token = options.tokenFile() == null ? null : Token.read(options.tokenFile(), log);
        registry.register(new PrometheusMetrics(fleet, status));
        overview = new Overview(fleet.processors());
        views = new LiveViews(options.exporter().attach(), overview);
        store = new HistoryStore(opener, options.data(), options.history(), log);
        history = new HistoryApi(store, overview, opened, options.clock());
        actions = new JvmActions(options.allowsActions(), overview, store, options.clock());
        recordings = new RecordingTasks(
                options.data().resolve("recordings"),
                actions,
                options.exporter().version(),
                keys.host(),
                log);
        agents = new AgentWatch(options.exporter().attach(), overview, store, options.clock());
        loop = new SamplingLoop(fleet, keys, overview, channel, store, options, log);
        routes = new Routes(log);
        addRoutes();
        web = new WebServer(options.exporter().listenAddress(), config, token, options.allowedHosts(), routes);
        // The page is served at once. Opening the history and reading the names of threads takes longer.
        store.start();
        loop.start();
        agents.start();
    }

    private void addRoutes() {
        routes.add("GET", AccessHandler.HEALTHY, call -> call.send(200, TEXT, ascii("TaskClock is healthy.\n")));
        routes.add("GET", "/-/ready", call -> {
            boolean isReady = loop.isReady();
            call.send(isReady ? 200 : 503, TEXT, ascii(isReady ? "TaskClock is ready.\n" : "TaskClock is starting.\n"));
        });
        routes.add("GET", "/metrics", this::sendMetrics);
        routes.add("POST", AccessHandler.LOGIN, this::login);
        routes.add("GET", "/api/", call -> call.send(200, "text/html; charset=utf-8", ApiDescription.page()));
        routes.add("GET", "/api/openapi.json", call -> call.json(200, ApiDescription.json()));
        routes.add("GET", "/api/info", call -> call.json(this::writeInfo));
        routes.add("GET", "/api/live", channel::add);
        routes.add("GET", "/api/jvms/{id}/live", views::watch);
        addRequests(routes, history, opened, actions, recordings);
    }

    /** Adds what is answered at once, from the parameters and the body of a request. */
    static void addRequests(
            Routes routes, HistoryApi history, OpenedRecordings opened, JvmActions actions, RecordingTasks recordings) {
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
        routes.add("GET", "/api/recordings", recordings::list);
        routes.add("GET", "/api/recordings/{name}", recordings::download);
        routes.add("GET", "/api/opened", opened::list);
        routes.add("POST", AccessHandler.OPENED, opened::open);
        routes.add("GET", "/api/marks", history::marks);
        routes.add("POST", "/api/marks", history::addMark);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private void writeInfo(JsonWriter json) throws IOException {
        json.beginObject();
        json.name("version").value(options.exporter().version());
        json.name("host").value(keys.host());
        json.name("processors").value(fleet.processors());
        json.name("actions").value(options.allowsActions());
        json.name("now").value(options.clock().millis());
        json.name("started").value(started);
        history.writeStatus(json.name("history"));
        json.endObject();
    }

    private void sendMetrics(Call call) throws IOException {
        ExpositionFormatWriter writer =
                formats.findWriter(call.request.getHeaders().get(HttpHeader.ACCEPT));
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        writer.write(body, registry.scrape());
        call.send(200, writer.getContentType(), body.toByteArray());
    }

    /** Gives a browser that knows the token a cookie. */
    private void login(Call call) throws ApiException, IOException {
        JsonElement sent = call.body().get("token");
        if (token == null) throw ApiException.badRequest("no token is needed");
        if (sent == null || !sent.isJsonPrimitive() || !token.matches(sent.getAsString()))
            throw new ApiException(401, "wrong token");
        HttpCookie cookie = HttpCookie.build(AccessHandler.COOKIE, token.cookie())
                .path("/")
                .httpOnly(true)
                .secure(call.request.isSecure())
                .sameSite(HttpCookie.SameSite.STRICT)
                .build();
        Response.addCookie(call.response, cookie);
        call.json(json -> json.beginObject().endObject());
    }

    /** Returns the routes of the API, as in {@link Routes#templates}. */
    List<String> routes() {
        return routes.templates();
    }

    /** Returns the address of the page. */
    public String url() {
        return web.url();
    }

    /** Stops to serve, and writes the rest of the history. */
    @Override
    public void close() {
        channel.close();
        views.close();
        web.close();
        agents.close();
        recordings.close();
        opened.close();
        loop.close();
        store.close();
        fleet.close();
    }
}
