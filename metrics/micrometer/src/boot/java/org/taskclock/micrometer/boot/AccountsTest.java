// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.testing.MeasuredWork.await;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.handler.MappedInterceptor;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;
import org.taskclock.bindings.AccountFilter;
import org.taskclock.testing.MeasuredWork;

/** Named accounts in a web application. The source is shared by all versions of Spring Boot. */
class AccountsTest {
    private static final String WITHOUT_OBSERVATIONS = "--spring.autoconfigure.exclude="
            + "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration,"
            + "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration";

    private static volatile MeasuredWork work;
    private static volatile MeasuredWork otherWork;
    private static final AtomicInteger RUNS = new AtomicInteger();

    @EnableAutoConfiguration
    static class Application {}

    @RestController
    static class Orders {
        @GetMapping("/orders/{id}")
        String get(@PathVariable("id") String id) {
            return work.run(id);
        }

        @GetMapping("/failing/{id}")
        String fail(@PathVariable("id") String id) {
            work.repeat(4); // more than the first error page takes
            throw new IllegalArgumentException(id);
        }

        @GetMapping("/later/{id}")
        Callable<String> later(@PathVariable("id") String id) {
            work.run();
            return () -> otherWork.run(id);
        }
    }

    /** Without a stereotype, so that only the tests that name it use it. */
    @EnableScheduling
    static class Jobs {
        @Scheduled(fixedDelay = 1)
        void nightly() {
            work.run();
            if (RUNS.incrementAndGet() % 2 == 0) throw new IllegalArgumentException("bad order");
        }
    }

    @BeforeEach
    void reset() {
        work = new MeasuredWork();
        otherWork = new MeasuredWork();
        RUNS.set(0);
    }

    private static ConfigurableApplicationContext start(Class<?> source, String... options) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.endpoints.web.exposure.include=prometheus",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn"));
        arguments.addAll(List.of(options));
        return new SpringApplication(Application.class, source).run(arguments.toArray(String[]::new));
    }

    private static int get(ConfigurableApplicationContext context, String path, String tenant) throws Exception {
        String url = "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + path;
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .header("X-Tenant", tenant)
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    /** Returns a row of which no section is open. */
    private static AccountUsage row(String type, String name) {
        await(
                () -> CpuAccounts.type(type).read().openSections().stream()
                        .noneMatch(section -> section.name().equals(name)),
                "a section of " + name + " is open");
        return CpuAccounts.type(type).read().accounts().stream()
                .filter(row -> row.name().equals(name))
                .findAny()
                .orElse(new AccountUsage(type, name, 0, 0, -1, -1, 0, 0, 0, 0, null));
    }

    private static AccountUsage usage(String type, String name, long sections) {
        await(() -> row(type, name).sections() >= sections, "sections of " + name + " are missing");
        AccountUsage row = row(type, name);
        assertThat(row.sections()).as("%s", row).isEqualTo(sections);
        assertThat(row.uncounted() + row.unclosed() + row.misclosed())
                .as("%s", row)
                .isZero();
        return row;
    }

    private static void assertCounted(String type, String name, long sections) {
        work.assertNanos(usage(type, name, sections).cpuNanos());
    }

    @Test
    void shouldCountTenantsAndEndpoints() throws Exception {
        try (ConfigurableApplicationContext context = start(
                Orders.class, "--taskclock.accounts.tenant.header=X-Tenant", "--taskclock.accounts.endpoint=true")) {
            for (int i = 0; i < 8; i++)
                assertThat(get(context, "/orders/" + i, "north")).isEqualTo(200);
            assertCounted("tenant", "north", 8);
            assertCounted("endpoint", "/orders/{id}", 8);
            assertThat(usage("endpoint", "/", 8).cpuNanos()).isPositive();

            work = new MeasuredWork();
            for (int i = 0; i < 8; i++)
                assertThat(get(context, "/failing/" + i, "south")).isEqualTo(500);
            assertThat(work.portions()).isEqualTo(32);
            assertCounted("tenant", "south", 16); // with error pages
            assertCounted("endpoint", "/failing/{id}", 8);
            assertThat(usage("endpoint", "/error", 8).cpuNanos()).isPositive();

            work = new MeasuredWork();
            for (int i = 0; i < 8; i++)
                assertThat(get(context, "/later/" + i, "east")).isEqualTo(200);
            assertThat(otherWork.portions()).isEqualTo(8);
            assertCounted("tenant", "east", 16); // before and after the other thread
            assertCounted("endpoint", "/later/{id}", 16);

            assertThat(get(context, "/actuator/prometheus", "monitor")).isEqualTo(200);
            assertThat(usage("endpoint", "/actuator/prometheus", 1).cpuNanos()).isPositive();
        }
    }

    @Test
    void shouldChangeNothingByDefault() throws Exception {
        try (ConfigurableApplicationContext context = start(Orders.class)) {
            assertThat(context.getBeansOfType(FilterRegistrationBean.class).values())
                    .noneMatch(bean -> bean.getFilter() instanceof AccountFilter);
            assertThat(context.getBeansOfType(MappedInterceptor.class)).isEmpty();
            assertThat(context.containsBean("taskClockJobAccounts")).isFalse();
            assertThat(get(context, "/orders/1", "nobody")).isEqualTo(200);
        }
        assertThat(row("tenant", "nobody").sections()).isZero();
    }

    @Test
    void shouldWarnOfWrongPropertiesAndStart() throws Exception {
        PrintStream out = System.out;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setOut(new PrintStream(log, true, StandardCharsets.UTF_8));
        try (ConfigurableApplicationContext context = start(
                Orders.class,
                "--taskclock.accounts.tenant.header=X Tenant",
                "--taskclock.accounts.endpoint=ja",
                "--taskclock.accounts.job=",
                "--taskclock.accounts.tenants=X-Tenant")) {
            assertThat(get(context, "/orders/1", "wrong")).isEqualTo(200);
        } finally {
            System.setOut(out);
        }
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("ignores the property taskclock.accounts.tenant.header=X Tenant: the value is not the name")
                .contains("ignores the property taskclock.accounts.endpoint=ja: the value is neither true nor false")
                .contains("ignores the property taskclock.accounts.job=: the value is neither true nor false")
                .contains("ignores the property taskclock.accounts.tenants=X-Tenant: there is no such property");
        assertThat(work.portions()).isEqualTo(1);
        assertThat(row("tenant", "(none)").sections()).isZero();
    }

    private static void assertJobsCounted(String... options) {
        String name = Jobs.class.getName() + ".nightly";
        AccountUsage before = row("job", name);
        try (ConfigurableApplicationContext context = start(Jobs.class, options)) {
            assertThat(context.isRunning()).isTrue();
            await(() -> RUNS.get() >= 8, "the job does not run");
        }
        await(() -> row("job", name).sections() >= before.sections() + RUNS.get(), "sections are missing");
        AccountUsage after = usage("job", name, before.sections() + RUNS.get());
        assertThat(work.portions()).isEqualTo(RUNS.get());
        work.assertNanos(after.cpuNanos() - before.cpuNanos());
    }

    @Test
    void shouldCountScheduledJobs() {
        assertJobsCounted("--taskclock.accounts.job=true", "--logging.level.org.springframework.scheduling=off");
    }

    @Test
    void shouldCountScheduledJobsWithoutARegistryOfObservations() {
        assertJobsCounted(
                "--taskclock.accounts.job=true",
                "--logging.level.org.springframework.scheduling=off",
                WITHOUT_OBSERVATIONS);
    }
}
