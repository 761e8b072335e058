// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.taskclock.CpuAccounts;
import org.taskclock.micrometer.TaskClockMetrics;

/** The auto-configuration in a web application with actuator. The source is shared by all versions of Spring Boot. */
class SpringBootTest {
    private static final String SERIES =
            "taskclock_thread_cpu_time_seconds_total{cpu_mode=\"user\",taskclock_pool_kind=\"java\",taskclock_pool_name=\"";

    @SpringBootApplication
    static class Application {}

    /** Without a stereotype, so that only the test that names it uses it. */
    static class OwnMetrics {
        @Bean
        TaskClockMetrics metrics() {
            return new TaskClockMetrics(40, List.of(io.micrometer.core.instrument.Tag.of("from", "application")));
        }
    }

    private static ConfigurableApplicationContext start(Class<?> source, String... options) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.endpoints.web.exposure.include=prometheus,metrics",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn"));
        arguments.addAll(List.of(options));
        return new SpringApplication(Application.class, source).run(arguments.toArray(String[]::new));
    }

    private static String get(ConfigurableApplicationContext context, String path) throws Exception {
        String url = "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + path;
        HttpResponse<String> response = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    @Test
    void shouldRunTheExpectedVersion() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("spring.boot.expected"));
    }

    @Test
    void shouldReportPoolsWithoutConfiguration() throws Exception {
        try (ConfigurableApplicationContext context = start(Application.class)) {
            get(context, "/actuator/prometheus");
            Thread.sleep(110); // the time for which readings are shared
            get(context, "/actuator/prometheus");
            assertThat(get(context, "/actuator/prometheus"))
                    .contains(SERIES + "main\"}", SERIES + "http-nio-#.#.#.#-auto-#-exec-#\"}")
                    .contains("taskclock_process_cpu_time_seconds_total{cpu_mode=\"user\"}");
            assertThat(get(context, "/actuator/metrics/taskclock.thread.cpu.time"))
                    .contains("\"baseUnit\":\"seconds\"");
        }
    }

    @Test
    void shouldFollowTheProperties() throws Exception {
        try (ConfigurableApplicationContext context = start(Application.class, "--taskclock.metrics.enabled=false")) {
            assertThat(get(context, "/actuator/prometheus")).doesNotContain("taskclock_thread_cpu_time");
        }
        try (ConfigurableApplicationContext context = start(
                Application.class,
                "--taskclock.metrics.max-pools=14",
                "--management.metrics.enable.taskclock.thread.wait=false",
                "--management.metrics.tags.region=north")) {
            List<String> counts = get(context, "/actuator/prometheus")
                    .lines()
                    .filter(line -> line.startsWith("taskclock_threads{"))
                    .toList();
            assertThat(counts).isNotEmpty().hasSizeLessThanOrEqualTo(14).allMatch(line -> line.contains("region"));
            assertThat(get(context, "/actuator/prometheus")).doesNotContain("taskclock_thread_wait_time");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"max-pools=3", "max-pools=many", "enabled=perhaps", "pools=20"})
    void shouldWarnOfAWrongPropertyAndRun(String property) throws Exception {
        PrintStream out = System.out;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setOut(new PrintStream(log, true, StandardCharsets.UTF_8));
        try (ConfigurableApplicationContext context = start(Application.class, "--taskclock.metrics." + property)) {
            assertThat(get(context, "/actuator/prometheus")).contains("taskclock_threads{");
        } finally {
            System.setOut(out);
        }
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("TaskClock ignores the property taskclock.metrics." + property + ": ");
    }

    @Test
    void shouldHaveAnEndpointWithThreadsAndAccounts() throws Exception {
        try (ConfigurableApplicationContext context =
                start(Application.class, "--management.endpoints.web.exposure.include=taskclock")) {
            CpuAccounts.type("tenant").of("acme").wrap(() -> {}).run();
            assertThat(get(context, "/actuator/taskclock"))
                    .contains("\"process\":{\"cpu\":", "\"name\":\"main\"", "\"kind\":\"gc\"")
                    .contains("\"name\":\"acme\"");
        }
        try (ConfigurableApplicationContext context = start(
                Application.class,
                "--management.endpoints.web.exposure.include=taskclock",
                "--taskclock.metrics.enabled=false")) {
            assertThat(get(context, "/actuator/taskclock")).contains("\"threads\":[{\"cpu\":");
        }
    }

    @Test
    void shouldPreferABeanOfTheApplication() throws Exception {
        try (ConfigurableApplicationContext context = start(OwnMetrics.class)) {
            assertThat(get(context, "/actuator/prometheus"))
                    .contains("taskclock_threads{from=\"application\"")
                    .doesNotContain("taskclock_threads{taskclock");
        }
    }
}
