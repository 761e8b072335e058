// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.ClientConfig;
import org.taskclock.web.http.Routes;
import org.taskclock.web.http.WebException;

/** The API requests about a fleet. */
public final class FleetApi implements AutoCloseable {
    /** Each request occupies a thread of the web server until Prometheus has answered. */
    private static final int MAX_REQUESTS = 16;

    private final PrometheusApi prometheus;
    private final HostUrl hostUrl;
    private final Double price;
    private final Clock clock;
    private final Semaphore free = new Semaphore(MAX_REQUESTS);

    public FleetApi(PrometheusOptions options, Clock clock, Consumer<String> log) throws WebException {
        hostUrl = HostUrl.parse(options.hostUrl());
        price = options.price();
        this.clock = clock;
        ClientConfig config;
        try {
            config = options.config() == null ? ClientConfig.NONE : ClientConfig.read(options.config());
        } catch (WebException e) {
            throw new WebException("--fleet-config " + e.getMessage());
        }
        prometheus = new PrometheusApi(options.url(), config, PrometheusApi.TIMEOUT);
        // The page is available immediately.
        new DaemonThread(
                        () -> {
                            String problem = problem();
                            if (problem != null) log.accept(problem);
                        },
                        "taskclock-fleet-check")
                .start();
    }

    /** Adds the paths of this API. */
    public void addTo(Routes routes) {
        routes.add("GET", "/api/fleet/usage", limited(this::usage));
        routes.add("GET", "/api/fleet/series", limited(this::series));
        routes.add("GET", "/api/fleet/findings", limited(this::findings));
        routes.add("GET", "/api/fleet/versions", limited(this::versions));
    }

    private Routes.Endpoint limited(Routes.Endpoint endpoint) {
        return call -> {
            if (!free.tryAcquire())
                throw new ApiException(503, "too many requests wait for Prometheus: try again in a few seconds");
            try {
                endpoint.answer(call);
            } finally {
                free.release();
            }
        };
    }

    /** Asks Prometheus, and returns in one line why there are no figures; null if there are. */
    public String problem() {
        try {
            boolean isEmpty = PrometheusApi.await(prometheus.at(FleetRange.now(clock), FleetQueries.ALL.total()))
                    .series()
                    .isEmpty();
            return isEmpty
                    ? prometheus.url() + ": has no recorded series of a fleet: load taskclock.rules.yml and"
                            + " taskclock-fleet.rules.yml, and wait for two evaluations"
                    : null;
        } catch (ApiException e) {
            return e.getMessage();
        }
    }

    /** Returns the address of Prometheus. */
    public String url() {
        return prometheus.url();
    }

    /** Writes what the page needs to know first. Does not wait for Prometheus. */
    public void writeInfo(JsonWriter json) throws IOException {
        json.beginObject();
        json.name("url").value(prometheus.url());
        json.name("price").value(price);
        json.name("problem").value(prometheus.problem());
        json.endObject();
    }

    private static FleetQueries queries(Call call) throws ApiException {
        String service = call.parameter("service");
        if (service != null && service.isEmpty()) service = null;
        return new FleetQueries(Dimension.parse(call.parameter("by"), service != null), service);
    }

    private CompletableFuture<Answer> at(Instant time, String query) {
        return query == null ? CompletableFuture.completedFuture(Answer.NONE) : prometheus.at(time, query);
    }

    /** Answers who uses the CPU, at the end of the range, a week earlier, and in the range. */
    private void usage(Call call) throws ApiException {
        FleetQueries queries = queries(call);
        FleetRange range = FleetRange.of(call, clock);
        Instant to = range.to();
        Dimension dimension = queries.dimension();
        boolean isJvm = dimension == Dimension.JVM;
        boolean isService = dimension == Dimension.SERVICE;
        boolean hasFindings = isJvm || isService || dimension == Dimension.HOST;
        // All queries are on their way before the first answer is needed.
        List<CompletableFuture<Answer>> asked = List.of(
                at(to, queries.rows()),
                at(to, queries.rowsWeekEarlier()),
                at(to, queries.rowsInRange(range)),
                at(to, queries.jvms()),
                at(to, isService ? queries.outliers() : null),
                at(to, hasFindings ? queries.findingCounts() : null),
                at(to, isJvm ? queries.median() : null),
                at(to, isJvm ? queries.info() : null),
                at(to, queries.total()),
                at(to, queries.totalWeekEarlier()),
                at(to, queries.totalInRange(range)),
                at(to, queries.totalInRangeWeekEarlier(range)));
        List<Answer> answers = new ArrayList<>();
        for (CompletableFuture<Answer> one : asked) answers.add(PrometheusApi.await(one));
        UsageRows rows = new UsageRows(queries, hostUrl);
        rows.add(answers.get(0), (row, value) -> row.cpu = value);
        rows.add(answers.get(1), (row, value) -> row.weekEarlier = value);
        rows.add(answers.get(2), (row, value) -> row.hours = value * queries.hoursPerSample(range));
        rows.add(answers.get(3), (row, value) -> row.jvms = value);
        rows.describe(answers.get(4), (row, value) -> row.outliers = value);
        rows.describe(answers.get(5), (row, value) -> row.findings = value);
        rows.describe(answers.get(7), (row, value) -> {});
        if (isJvm) rows.markOutliers(answers.get(6).number());
        call.json(json -> {
            json.beginObject();
            range.write(json);
            json.name("by").value(dimension.text());
            json.name("total").beginObject();
            number(json, "cpu", UsageRows.PERCENT * answers.get(8).number());
            number(json, "weekEarlier", UsageRows.PERCENT * answers.get(9).number());
            number(json, "hours", range.hoursPerSample() * answers.get(10).number());
            number(
                    json,
                    "hoursWeekEarlier",
                    range.hoursPerSample() * answers.get(11).number());
            json.endObject();
            rows.write(json);
            Answer.writeWarnings(json, answers);
            json.endObject();
        });
    }

    private static void number(JsonWriter json, String name, double number) throws IOException {
        Answer.writeNumber(json.name(name), number);
    }

    /** Answers the CPU use over time of the largest rows, and of all of them a week earlier. */
    private void series(Call call) throws ApiException {
        FleetQueries queries = queries(call);
        FleetRange range = FleetRange.of(call, clock);
        FleetSeries series =
                FleetSeries.of(queries, range, PrometheusApi.await(at(range.to(), queries.rowsInRange(range))));
        List<CompletableFuture<Answer>> asked = List.of(
                series.isEmpty()
                        ? CompletableFuture.completedFuture(Answer.NONE)
                        : prometheus.range(range.from(), range.to(), range.step(), series.lines()),
                prometheus.range(range.from(), range.to(), range.step(), series.sum(false)),
                prometheus.range(range.from(), range.to(), range.step(), series.sum(true)));
        List<Answer> answers = new ArrayList<>();
        for (CompletableFuture<Answer> one : asked) answers.add(PrometheusApi.await(one));
        call.json(json -> {
            json.beginObject();
            range.write(json);
            series.write(json, answers.get(0), answers.get(1), answers.get(2));
            Answer.writeWarnings(json, answers);
            json.endObject();
        });
    }

    private void findings(Call call) throws ApiException {
        FleetQueries queries = queries(call);
        FleetRange range = FleetRange.of(call, clock);
        CompletableFuture<Answer> now = at(range.to(), queries.findings());
        CompletableFuture<Answer> all = at(range.to(), queries.findingsInRange(range));
        FleetFindings findings = new FleetFindings(PrometheusApi.await(now), PrometheusApi.await(all), hostUrl);
        call.json(findings::write);
    }

    private void versions(Call call) throws ApiException {
        FleetQueries queries = queries(call);
        FleetRange range = FleetRange.of(call, clock);
        FleetVersions versions;
        if (queries.service() == null) {
            Answer found = PrometheusApi.await(at(range.to(), queries.newVersions(range)));
            List<String> services = found.series().stream()
                    .map(series -> series.label("service"))
                    .toList();
            List<String> names = found.series().stream()
                    .map(series -> series.label(FleetQueries.VERSION))
                    .toList();
            CompletableFuture<Answer> jvms = services.isEmpty()
                    ? CompletableFuture.completedFuture(Answer.NONE)
                    : prometheus.range(range.from(), range.to(), range.step(), queries.jvmsOf(services, names));
            versions = FleetVersions.firstSeen(found, PrometheusApi.await(jvms));
        } else {
            CompletableFuture<Answer> cpu =
                    prometheus.range(range.from(), range.to(), range.step(), queries.versionCpu());
            CompletableFuture<Answer> jvms =
                    prometheus.range(range.from(), range.to(), range.step(), queries.versionJvms());
            versions = FleetVersions.ofService(
                    queries.service(), range, PrometheusApi.await(cpu), PrometheusApi.await(jvms));
        }
        call.json(versions::write);
    }

    @Override
    public void close() {
        prometheus.close();
    }
}
