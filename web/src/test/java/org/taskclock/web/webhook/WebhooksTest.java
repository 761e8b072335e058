// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.web.http.WebException;

/** Findings that are sent to a receiver, which may fail. */
final class WebhooksTest {
    private static final Instant BEGIN = Instant.parse("2026-11-27T03:12:05Z");
    private static final JvmKey ORDERS = jvm(7);

    private static final WebhookSender.Pace FAST = new WebhookSender.Pace(
            Duration.ofMillis(200),
            Duration.ofMillis(1),
            Duration.ofMillis(10),
            Duration.ofMillis(50),
            Duration.ofSeconds(1));

    private final List<JsonObject> received = new CopyOnWriteArrayList<>();
    private final List<String> paths = new CopyOnWriteArrayList<>();
    private final List<Long> times = new CopyOnWriteArrayList<>();
    private final List<String> log = new CopyOnWriteArrayList<>();
    private volatile int status = 200;
    private volatile long delayMillis;
    private HttpServer receiver;
    private Webhooks webhooks;
    private Instant now = BEGIN;

    @BeforeEach
    void startReceiver() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.setExecutor(Executors.newCachedThreadPool());
        receiver.createContext("/", this::receive);
        receiver.start();
    }

    @AfterEach
    void stop() {
        if (webhooks != null) webhooks.close();
        receiver.stop(0);
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            int answer = status;
            times.add(System.nanoTime());
            paths.add(exchange.getRequestURI().getPath());
            Thread.sleep(delayMillis);
            if (answer == 200) received.add(JsonParser.parseString(body).getAsJsonObject());
            if (answer / 100 == 3) exchange.getResponseHeaders().add("Location", url("/private"));
            exchange.sendResponseHeaders(answer, -1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String url(String path) {
        return "http://127.0.0.1:" + receiver.getAddress().getPort() + path;
    }

    private void start(WebhookSender.Pace pace, String... targets) throws WebException {
        List<WebhookTarget> parsed = new ArrayList<>();
        for (String target : targets) parsed.add(WebhookTarget.parse("--webhook", target));
        webhooks = new Webhooks(parsed, () -> "https://watch.example/", pace, log::add);
    }

    private static JvmKey jvm(long pid) {
        return new JvmKey(pid + "-a", "alpha", pid, "orders", "Orders", null, null, BEGIN.minusSeconds(60));
    }

    private static DatedFinding finding(String thread) {
        return new DatedFinding(
                new Finding(
                        FindingKinds.of("yield-storm"),
                        42,
                        "thread \"" + thread + "\" yields 90,000 times a second",
                        List.of("95 % of a core")),
                BEGIN);
    }

    private void update(DatedFinding... findings) {
        now = now.plusSeconds(1);
        webhooks.update(Map.of(ORDERS, List.of(findings)), now);
    }

    private void await(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) throw new AssertionError(received + " " + paths + " " + log);
            Thread.onSpinWait();
        }
    }

    private JsonArray alerts(int message) {
        await(() -> received.size() > message);
        return received.get(message).getAsJsonArray("alerts");
    }

    private static String text(JsonArray alerts, int index, String... path) {
        JsonObject object = alerts.get(index).getAsJsonObject();
        for (int i = 0; i < path.length - 1; i++) object = object.getAsJsonObject(path[i]);
        return object.get(path[path.length - 1]).getAsString();
    }

    @Test
    void shouldSayWhenAFindingBeginsAndEnds() throws Exception {
        start(FAST, url("/hook"));
        update(finding("worker-1"));
        update(finding("worker-1"));
        JsonArray firing = alerts(0);
        JsonObject message = received.get(0);
        assertThat(message.get("version").getAsString()).isEqualTo("4");
        assertThat(message.get("status").getAsString()).isEqualTo("firing");
        assertThat(message.getAsJsonObject("commonLabels").get("finding").getAsString())
                .isEqualTo("yield-storm");
        assertThat(text(firing, 0, "startsAt")).isEqualTo("2026-11-27T03:12:05Z");
        assertThat(text(firing, 0, "endsAt")).as("unless renewed").isEqualTo("2026-11-27T03:57:06Z");
        assertThat(text(firing, 0, "labels", "alertname")).isEqualTo("TaskClockYieldStorm");
        assertThat(text(firing, 0, "labels", "instance")).isEqualTo("alpha");
        assertThat(text(firing, 0, "labels", "thread")).isEqualTo("worker-1");
        assertThat(text(firing, 0, "annotations", "summary")).contains("90,000 times");
        assertThat(text(firing, 0, "annotations", "runbook_url")).endsWith("docs/alerts.md#yield-storm");
        assertThat(text(firing, 0, "generatorURL"))
                .startsWith("https://watch.example/#/jvm/7-a?from=")
                .contains("begin=" + BEGIN.toEpochMilli());

        Instant lastSeen = now;
        for (int i = 0; i <= FindingAlerts.ENDED.toSeconds(); i++) update();
        JsonArray resolved = alerts(1);
        assertThat(received.get(1).get("status").getAsString()).isEqualTo("resolved");
        assertThat(text(resolved, 0, "endsAt")).isEqualTo(lastSeen.toString());
        assertThat(text(resolved, 0, "fingerprint")).isEqualTo(text(firing, 0, "fingerprint"));
        update(finding("worker-2"));
        assertThat(alerts(2)).as("without what has ended").hasSize(1);
    }

    /** If this server crashes, receivers see from the last message when it has ended. */
    @Test
    void shouldSayAgainThatAFindingLasts() throws Exception {
        start(FAST, url("/hook"), "slack=" + url("/slack"));
        update();
        update(finding("worker-1"));
        await(() -> received.size() == 2);
        Instant begin = now;
        while (now.isBefore(begin.plus(FindingAlerts.RENEWED.multipliedBy(2)))) {
            update(finding("worker-1"));
            int messages = 2 + (int) (Duration.between(BEGIN, now).toSeconds() - 1) / 900;
            await(() -> received.size() >= messages);
        }
        assertThat(paths)
                .filteredOn("/slack"::equals)
                .as("people are told once")
                .hasSize(1);
        List<String> ends = received.stream()
                .filter(message -> message.has("alerts"))
                .map(message -> text(message.getAsJsonArray("alerts"), 0, "endsAt"))
                .toList();
        assertThat(ends).containsExactly("2026-11-27T03:57:07Z", "2026-11-27T04:12:06Z", "2026-11-27T04:27:06Z");
        JsonArray last = received.get(received.size() - 1).getAsJsonArray("alerts");
        assertThat(text(last, 0, "status")).isEqualTo("firing");
        assertThat(text(last, 0, "startsAt")).isEqualTo(BEGIN.toString());
        Instant lastSeen = now;
        for (int i = 0; i <= FindingAlerts.ENDED.toSeconds(); i++) update();
        await(() -> paths.stream().filter("/slack"::equals).count() == 2 && received.size() == 6);
        for (JsonObject message : received.subList(4, 6))
            if (message.has("alerts"))
                assertThat(text(message.getAsJsonArray("alerts"), 0, "endsAt")).isEqualTo(lastSeen.toString());
    }

    @Test
    void shouldNotReportAFindingThatReturnsOrTheSameOneTwice() throws Exception {
        start(FAST, url("/hook"));
        update(finding("worker-1"));
        alerts(0);
        for (int i = 0; i < 30; i++) update();
        for (int i = 0; i < 30; i++) update(finding("worker-1"));
        webhooks.update(Map.of(), now);
        assertThat(alerts(1)).hasSize(1);
        assertThat(received).hasSize(2);
        assertThat(received.get(1).get("status").getAsString())
                .as("the JVM has ended")
                .isEqualTo("resolved");
    }

    @Test
    void shouldGroupByJvmAndLimitTheRate() throws Exception {
        start(
                new WebhookSender.Pace(
                        Duration.ofSeconds(2), Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1)),
                url("/hook"));
        long start = System.nanoTime();
        Map<JvmKey, List<DatedFinding>> running = new LinkedHashMap<>();
        running.put(ORDERS, List.of(finding("a"), finding("b")));
        running.put(jvm(8), List.of(finding("a")));
        webhooks.update(running, now);
        await(() -> received.size() == 2);
        assertThat(alerts(0)).hasSize(2);
        List<DatedFinding> many = new ArrayList<>();
        for (int i = 0; i < WebhookSender.MAX_ALERTS + 10; i++) {
            many.add(finding("thread " + i));
            webhooks.update(Map.of(ORDERS, List.copyOf(many)), now);
        }
        await(() -> received.size() >= 4);
        assertThat(System.nanoTime() - start).as("ns until the next messages").isGreaterThan(1_900_000_000L);
        JsonObject last = received.stream()
                .skip(2)
                .filter(message -> message.toString().contains("thread 0"))
                .findFirst()
                .orElseThrow();
        assertThat(last.getAsJsonArray("alerts")).hasSize(WebhookSender.MAX_ALERTS);
        assertThat(last.get("truncatedAlerts").getAsInt()).isEqualTo(12);
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 503, 429, 425, 408})
    void shouldTryAgainAndSayOnceThatTheReceiverIsDown(int error) throws Exception {
        status = error;
        start(FAST, url("/s3cret"));
        update(finding("worker-1"));
        await(() -> paths.size() >= 3);
        assertThat(log).hasSize(1);
        assertThat(log.get(0)).contains("not delivered: status " + error).doesNotContain("s3cret");
        assertThat(webhooks.problem()).isEqualTo(log.get(0));
        for (int i = 0; i <= FindingAlerts.ENDED.toSeconds(); i++) update(finding("worker-2"));
        status = 200;
        JsonArray both = alerts(0);
        assertThat(both).as("what began and ended meanwhile").hasSize(2);
        assertThat(received.get(0).toString()).contains("\"resolved\"", "\"firing\"", "worker-1", "worker-2");
        await(() -> log.size() == 2);
        assertThat(log.get(1)).contains("works again");
        assertThat(webhooks.problem()).isNull();
    }

    @Test
    void shouldTryAgainLessAndLessOftenUpToALimit() throws Exception {
        status = 503;
        WebhookSender.Pace pace = new WebhookSender.Pace(
                Duration.ZERO, Duration.ZERO, Duration.ofMillis(100), Duration.ofMillis(400), FAST.answer());
        start(pace, url("/hook"));
        update(finding("worker-1"));
        await(() -> times.size() >= 7);
        for (int i = 0; i < 6; i++)
            assertThat(times.get(i + 1) - times.get(i))
                    .as("ns after attempt " + i)
                    .isGreaterThanOrEqualTo(i < 2 ? (i + 1) * 99_000_000L : 399_000_000L)
                    .isLessThan(3_000_000_000L);
    }

    @Test
    void shouldNotKeepMoreThanItMay() throws Exception {
        start(
                new WebhookSender.Pace(Duration.ofHours(1), Duration.ZERO, Duration.ZERO, Duration.ZERO, FAST.answer()),
                url("/hook"));
        Map<JvmKey, List<DatedFinding>> running = new LinkedHashMap<>();
        for (int pid = 0; pid < WebhookSender.MAX_JVMS + 5; pid++) running.put(jvm(pid), List.of(finding("a")));
        webhooks.update(running, now);
        await(() -> received.size() >= WebhookSender.MAX_JVMS);
        Thread.sleep(500); // in which more would arrive
        assertThat(WebhookSender.MAX_JVMS).isEqualTo(1_000);
        assertThat(received).hasSize(1_000);
    }

    @Test
    void shouldNotFollowARedirectOrRepeatWhatIsRefused() throws Exception {
        for (int refused : new int[] {301, 307, 400, 404}) {
            paths.clear();
            log.clear();
            status = refused;
            start(FAST, url("/hook"));
            update(finding("worker-1"));
            await(() -> log.size() == 1);
            webhooks.close();
            assertThat(paths)
                    .as("status " + refused + ", at the beginning and when the server stops")
                    .containsExactly("/hook", "/hook");
            assertThat(log.get(0)).contains("status " + refused);
        }
        assertThat(received).isEmpty();
    }

    @Test
    void shouldNeverWaitForTheReceiver() throws Exception {
        delayMillis = 60_000;
        start(FAST, url("/hook"));
        long start = System.nanoTime();
        for (int i = 0; i < 1_000; i++) update(finding("thread " + i % 100));
        assertThat(System.nanoTime() - start).as("ns of 1,000 updates").isLessThan(5_000_000_000L);
        await(() -> log.size() == 1);
        assertThat(log.get(0)).contains("not delivered: request timed out");
        start = System.nanoTime();
        webhooks.close();
        assertThat(System.nanoTime() - start).as("ns to close").isLessThan(5_000_000_000L);
        receiver.stop(0);
    }

    private static long clients() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("HttpClient-\\d+-SelectorManager"))
                .count();
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "before JDK 21, an HttpClient cannot be closed")
    void shouldCloseItsClient() throws Exception {
        long before = clients();
        for (int i = 1; i <= 40; i++) {
            start(FAST, url("/hook"));
            update(finding("worker-1"));
            int messages = 2 * i;
            await(() -> received.size() >= messages - 1);
            webhooks.close();
        }
        Thread.sleep(1_000); // until the threads have ended
        assertThat(clients() - before).as("those of other tests").isLessThan(20);
    }

    @Test
    void shouldSayThatNobodyListens() throws Exception {
        String closed = url("/hook");
        receiver.stop(0);
        start(FAST, closed);
        update(finding("worker-1"));
        await(() -> log.size() == 1);
        assertThat(log.get(0)).contains("webhook http://127.0.0.1:", "not delivered");
    }

    @Test
    void shouldWriteForSlack() throws Exception {
        start(FAST, "slack=" + url("/services/x"));
        update(finding("<!channel> & co"));
        await(() -> received.size() == 1);
        assertThat(received.get(0).get("text").getAsString())
                .contains("*orders* (pid 7 on alpha)", "&lt;!channel&gt; &amp; co", "began 2026-11-27 03:12:05 UTC")
                .contains("|open>", "docs/alerts.md#yield-storm|what to do>")
                .doesNotContain("<!channel");
        webhooks.close();
        await(() -> received.size() == 2);
        assertThat(received.get(1).get("text").getAsString())
                .contains("No longer watched, because taskclock serve stopped", "lasted at least 1 s")
                .doesNotContain("Ended", "red_circle");
    }

    @Test
    void shouldDeliverWhatIsLeftAndEndWhatLastsWhenTheServerStops() throws Exception {
        WebhookSender.Pace slow = new WebhookSender.Pace(
                Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(1), FAST.answer());
        start(slow, url("/hook"));
        update(finding("worker-1"));
        await(() -> received.size() == 1);
        update(finding("worker-1"), finding("worker-2"));
        webhooks.close();
        JsonArray last = alerts(1);
        assertThat(last).hasSize(2);
        assertThat(received.get(1).get("status").getAsString())
                .as("receivers without a time limit would show it as firing for ever")
                .isEqualTo("resolved");
        assertThat(text(last, 0, "endsAt")).isEqualTo(now.toString());
        assertThat(text(last, 0, "fingerprint")).isEqualTo(text(alerts(0), 0, "fingerprint"));
        assertThat(text(last, 0, "annotations", "ended")).contains("unknown", "serve stopped");
        update(finding("worker-3"));
        webhooks.close();
        assertThat(received).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "s3cret", "ftp://s3cret.example/", "teams=https://s3cret.example/", "https://u:s3cret@h/"})
    void shouldRejectWhatIsNoReceiver(String text) {
        assertThatThrownBy(() -> WebhookTarget.parse("--webhook-file f", text))
                .isInstanceOf(WebException.class)
                .hasMessageContaining("--webhook-file f: must be a URL")
                .hasMessageNotContaining("s3cret");
    }
}
