// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Answers of a server and events that a test makes up, so that the page shows the same each time. */
final class FakeServer {
    static final long NOW = 1_800_000_000_000L;

    private static final Gson GSON = new Gson();

    /** Replaces the streams with one that the test feeds. */
    private static final String STREAMS = """
            delete window.SharedWorker;
            window.streams = [];
            window.EventSource = class extends EventTarget {
              constructor(url) {
                super();
                window.streams.push(this);
                this.url = url;
              }
              close() { this.closed = true; }
            };
            window.send = (name, data) => {
              for (const stream of window.streams.filter(one => !one.closed)) {
                const {pathname, searchParams} = new URL(stream.url, document.baseURI);
                // Until there were streams with several subjects, the path was the subject.
                const path = pathname.endsWith('/api/live') ? 'jvms' : 'jvm';
                for (const of of searchParams.has('of') ? searchParams.getAll('of') : [path]) {
                  const event = new MessageEvent(name, {data: JSON.stringify(data), lastEventId: of});
                  if ((of === 'jvms') === (name === 'jvms')) stream.dispatchEvent(event);
                }
              }
            };
            """;

    private FakeServer() {}

    static Map<String, Object> jvm(int pid, String service, double user, double system) {
        Map<String, Object> jvm = new HashMap<>();
        jvm.put("id", pid + "-1");
        jvm.put("pid", pid);
        jvm.put("service", service);
        jvm.put("command", service);
        jvm.put("started", NOW - 1_000_000 + pid);
        jvm.put("threads", 2);
        jvm.put("cpu", user + system);
        jvm.put("user", user);
        jvm.put("system", system);
        jvm.put("sparkline", List.of(1, 2, user + system));
        jvm.put("findings", List.of());
        jvm.put("agent", false);
        return jvm;
    }

    static Map<String, Object> jvms(List<Map<String, Object>> jvms) {
        return Map.of("machine", Map.of("cpu", List.of(1), "processors", 2), "jvms", jvms);
    }

    static Map<String, Object> thread(int tid, String name, String pool, double cpu) {
        return thread(tid, name, pool, cpu, cpu / 2);
    }

    static Map<String, Object> thread(int tid, String name, String pool, double cpu, double system) {
        return Map.of(
                "tid",
                tid,
                "name",
                name,
                "pool",
                pool,
                "kind",
                "java",
                "cpu",
                cpu,
                "user",
                cpu - system,
                "system",
                system,
                "state",
                "R",
                "total",
                5);
    }

    static Map<String, Object> interval(long end, List<Map<String, Object>> threads) {
        return Map.of(
                "end",
                end,
                "intervalNanos",
                1_000_000_000,
                "totals",
                Map.of("cpu", 12.5),
                "threads",
                threads,
                "findings",
                List.of(),
                "notes",
                List.of());
    }

    /** Returns a range of the history: a wave of CPU use for each of some pools, or threads of them. */
    static Map<String, Object> range(long from, int steps, String rows, int count) {
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < steps; i++) times.add(from + i * 1_000L);
        List<Map<String, Object>> lines = new ArrayList<>();
        for (int row = 0; row < count; row++) {
            List<Double> user = new ArrayList<>();
            List<Double> system = new ArrayList<>();
            List<Double> cpu = new ArrayList<>();
            for (int i = 0; i < steps; i++) {
                double value = 20.0 * (1 + Math.sin(i / 20.0 + row)) / (row + 1);
                user.add(value);
                system.add(value / (row + 2));
                cpu.add(value + value / (row + 2));
            }
            Map<String, Object> line =
                    new HashMap<>(Map.of("pool", "pool-" + row % 4, "kind", "java", "system", system));
            if (rows.equals("threads")) line.putAll(Map.of("tid", row + 1, "name", "thread-" + row, "cpu", cpu));
            else line.put("user", user);
            lines.add(line);
        }
        return Map.of(
                "from",
                from,
                "to",
                from + steps * 1_000L,
                "step",
                1000,
                "times",
                times,
                rows,
                lines,
                "marks",
                List.of());
    }

    static void answer(Page page, String path, Object json) {
        page.route(
                url -> url.contains("/api/") && url.contains(path),
                route -> route.fulfill(new Route.FulfillOptions()
                        .setContentType("application/json")
                        .setBody(GSON.toJson(json))));
    }

    /** Opens the page of a server with this host name and these JVMs, whose history is empty. */
    static Page open(
            String url, Page page, String address, String problem, String host, List<Map<String, Object>> jvms) {
        return open(url, page, address, problem, host, jvms, () -> {});
    }

    /** Opens the page, after other answers have been added. */
    static Page open(
            String url,
            Page page,
            String address,
            String problem,
            String host,
            List<Map<String, Object>> jvms,
            Runnable answers) {
        page.addInitScript(STREAMS);
        answer(page, "/api/jvms", jvms(jvms));
        answer(page, "/pools", range(NOW, 0, "pools", 0));
        answer(page, "/threads", range(NOW, 0, "threads", 0));
        Map<String, Object> history = new HashMap<>(Map.of("since", NOW, "bytes", 1));
        history.put("problem", problem);
        String served = page.request().get(url + "api/info").text();
        Map<String, Object> info = new HashMap<>(GSON.fromJson(served, new TypeToken<Map<String, Object>>() {}));
        info.putAll(Map.of("host", host, "actions", false, "now", NOW, "history", history));
        answer(page, "/api/info", info);
        answers.run();
        page.navigate(url + address);
        // The page of a fleet has none.
        page.waitForFunction("() => window.streams?.length > 0 || document.querySelector('[data-by]')");
        return page;
    }

    /** Sends an event to all streams of the page that are about its subject. */
    static void send(Page page, String event, Object data) {
        page.evaluate("([event, text]) => send(event, JSON.parse(text))", List.of(event, GSON.toJson(data)));
    }
}
