// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.eclipse.jetty.server.Request;
import org.taskclock.web.fleet.FleetApi;
import org.taskclock.web.fleet.PrometheusOptions;
import org.taskclock.web.http.AccessHandler;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.Routes;
import org.taskclock.web.http.WebException;
import org.taskclock.web.http.WebServer;

/** Serves the page of a fleet, whose figures come from Prometheus, from its creation until it is closed. */
public final class FleetServer implements AutoCloseable {
    private final ServerOptions options;
    private final FleetApi fleet;
    private final Logins logins;
    private final Routes routes;
    private final WebServer web;

    /**
     * Starts a server. Returns before Prometheus has answered.
     *
     * @param options those about requests are used: it samples no JVM
     * @param log receives messages of one line
     * @throws WebException if the options cannot be used; the message is the reason, in one line
     */
    public FleetServer(ServerOptions options, PrometheusOptions prometheus, Consumer<String> log) throws WebException {
        this.options = options;
        // Only logins change something. A server of this host may use the same directory.
        AuditLog audit = new AuditLog(
                options.data().resolve("fleet"), ServerLimits.AUDIT_BYTES, id -> null, options.clock(), log);
        logins = new Logins(options, audit::watch, log);
        fleet = new FleetApi(prometheus, options.clock(), log);
        routes = new Routes(log);
        addRoutes();
        web = logins.serve(routes, WebServer.RECEIVE_MILLIS);
    }

    private void addRoutes() {
        routes.add("GET", AccessHandler.HEALTHY, call -> call.text(200, "TaskClock is healthy.\n"));
        routes.add("GET", "/-/ready", this::sendReadiness);
        logins.addTo(routes);
        routes.add("GET", "/api/", call -> call.send(200, Call.HTML, ApiDescription.page(ApiDescription.FLEET)));
        routes.add("GET", "/api/openapi.json", call -> call.json(200, ApiDescription.fleetJson()));
        routes.add("GET", "/api/info", call -> call.json(json -> writeInfo(json, call.request)));
        fleet.addTo(routes);
    }

    private void sendReadiness(Call call) {
        String problem = fleet.problem();
        String text = problem == null ? "TaskClock is ready.\n" : "TaskClock is not ready: " + problem + "\n";
        call.text(problem == null ? 200 : 503, text);
    }

    private void writeInfo(JsonWriter json, Request request) throws IOException {
        json.beginObject();
        json.name("version").value(options.exporter().version());
        json.name("host").value(fleet.url());
        json.name("user").value(AccessHandler.loggedIn(request));
        json.name("now").value(options.clock().millis());
        fleet.writeInfo(json.name("fleet"));
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

    /** Stops serving. */
    @Override
    public void close() {
        web.close();
        fleet.close();
    }
}
