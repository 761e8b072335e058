// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.tools.attach.VirtualMachine;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.AccountReading;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;

/**
 * The accounts of endpoints that the agent finds in servlets. Each program reads them with its own copy of the library.
 */
class ProgramAccountsTest {
    private static final int REQUESTS = 40;

    /** What the server and the first requests, which run code that is not compiled, use in addition. */
    private static final long TOLERANCE_NANOS = 150_000_000;

    /** Waits far longer than a request takes, so that only a failure ends it. */
    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    /** Keeps the servers from logging. */
    static final String[] QUIET = {
        "-Dslf4j.internal.verbosity=ERROR", "-Djava.util.logging.config.class=" + NoLog.class.getName()
    };

    private static volatile long unusedSink;

    /** Uses CPU time, and returns how much. */
    static long burn(long nanos) {
        long start = TaskClock.cpuNanos();
        long now = start;
        while (now - start < nanos) {
            for (int i = 0; i < 1_000; i++) unusedSink = unusedSink * 31 + i;
            now = TaskClock.cpuNanos();
        }
        return now - start;
    }

    static AccountUsage usage(String type, String name) {
        return CpuAccounts.type(type).read().accounts().stream()
                .filter(row -> row.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError(
                        name + " is not in " + CpuAccounts.type(type).read()));
    }

    /** Waits for the sections of an account: the client has its answer before the section is closed. */
    static AccountUsage awaitSections(String type, String name, long sections) throws InterruptedException {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        while (true) {
            boolean isThere = CpuAccounts.type(type).read().accounts().stream()
                    .anyMatch(row -> row.name().equals(name) && row.sections() >= sections);
            if (isThere || System.nanoTime() - end > 0) return usage(type, name);
            Thread.sleep(5);
        }
    }

    static void assertUsage(AccountUsage row, long sections, long burntNanos) {
        assertThat(row.sections()).as(row.toString()).isEqualTo(sections);
        assertThat(row.cpuNanos()).as(row.toString()).isBetween(burntNanos, burntNanos * 11 / 10 + TOLERANCE_NANOS);
        assertThat(row.uncounted() + row.unclosed()).as(row.toString()).isZero();
    }

    /** A server with some servlets. */
    static final class Web implements AutoCloseable {
        final LongAdder lightNanos = new LongAdder();
        final LongAdder heavyNanos = new LongAdder();
        final AtomicInteger running = new AtomicInteger();
        final CountDownLatch blocked = new CountDownLatch(1);
        private final Server server;
        private final HttpClient client = HttpClient.newHttpClient();

        Web(boolean isVirtual) throws Exception {
            QueuedThreadPool pool = new QueuedThreadPool(12);
            if (isVirtual) pool.setVirtualThreadsExecutor(virtualThreads());
            server = new Server(pool);
            ServerConnector connector = new ServerConnector(server);
            connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
            server.addConnector(connector);
            ServletContextHandler context = new ServletContextHandler("/shop");
            add(context, "/light/*", new Burning(1_000_000, lightNanos));
            add(context, "/heavy/*", new Burning(3_000_000, heavyNanos));
            add(context, "/failing", new Failing());
            add(context, "/async", new Async());
            add(context, "/blocking", new Blocking());
            server.setHandler(context);
            server.start();
        }

        private static Executor virtualThreads() throws ReflectiveOperationException {
            return (Executor)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        }

        private static void add(ServletContextHandler context, String pattern, HttpServlet servlet) {
            ServletHolder holder = new ServletHolder(servlet);
            holder.setAsyncSupported(true);
            context.addServlet(holder, pattern);
        }

        int get(String path) throws IOException, InterruptedException {
            URI uri = server.getURI().resolve("/shop" + path);
            return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }

        @Override
        public void close() {
            try {
                server.stop();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        /** Uses CPU time. */
        private static final class Burning extends HttpServlet {
            private static final long serialVersionUID = 1;
            private final long nanos;
            private final LongAdder all;

            Burning(long nanos, LongAdder all) {
                this.nanos = nanos;
                this.all = all;
            }

            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                all.add(burn(nanos));
            }
        }

        /** Uses CPU time, and throws. */
        private static final class Failing extends HttpServlet {
            private static final long serialVersionUID = 1;

            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                burn(1_000_000);
                throw new IllegalStateException("expected by the test");
            }
        }

        /** Uses 1 ms of CPU time on its own thread, and 20 ms on another one. */
        private static final class Async extends HttpServlet {
            private static final long serialVersionUID = 1;

            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                burn(1_000_000);
                AsyncContext context = request.startAsync();
                new Thread(() -> {
                            burn(20_000_000);
                            context.complete();
                        })
                        .start();
            }
        }

        /** Waits. */
        private final class Blocking extends HttpServlet {
            private static final long serialVersionUID = 1;

            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                running.incrementAndGet();
                try {
                    blocked.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                burn(1_000_000);
            }
        }
    }

    private static JvmLauncher quietly(JvmLauncher jvm) {
        return jvm.option(QUIET).usingLibrary();
    }

    /** Keeps the servers from logging. */
    public static final class NoLog {
        /** Called by java.util.logging. */
        public NoLog() {
            java.util.logging.LogManager.getLogManager().reset();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountEachServlet(boolean isVirtual) throws Exception {
        boolean runsVirtual = isVirtual && JvmLauncher.feature() >= JdkVersions.VIRTUAL_THREADS;
        quietly(JvmLauncher.withAgent("accounts=endpoint"))
                .run(Servlets.class, Boolean.toString(runsVirtual))
                .assertSilent();
    }

    static final class Servlets {
        public static void main(String[] args) throws Exception {
            assertThat(System.getProperty("taskclock.agent")).contains(",accounts=endpoint");
            try (Web web = new Web(Boolean.parseBoolean(args[0]))) {
                for (int i = 0; i < REQUESTS; i++) {
                    assertThat(web.get("/light/" + i)).isEqualTo(200);
                    assertThat(web.get("/heavy/" + i + "?name=\u20ac")).isEqualTo(200);
                    assertThat(web.get("/failing")).isEqualTo(500);
                    assertThat(web.get("/async")).isEqualTo(200);
                }
                assertUsage(awaitSections("endpoint", "/shop/light/*", REQUESTS), REQUESTS, web.lightNanos.sum());
                assertUsage(awaitSections("endpoint", "/shop/heavy/*", REQUESTS), REQUESTS, web.heavyNanos.sum());
                assertUsage(awaitSections("endpoint", "/shop/failing", REQUESTS), REQUESTS, REQUESTS * 1_000_000L);
                assertUsage(awaitSections("endpoint", "/shop/async", REQUESTS), REQUESTS, REQUESTS * 1_000_000L);
                assertThat(CpuAccounts.read()).extracting(r -> r.type()).containsExactly("endpoint");
                assertThat(AgentCheck.bean().getFailures()).isZero();
            }
        }
    }

    /** Attaches, detaches, and attaches again while requests run. */
    @Test
    void shouldCloseTheSectionsThatAreOpenWhenItIsDetached() throws Exception {
        quietly(JvmLauncher.withoutAgent())
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .option("-Dagent.jar=" + System.getProperty("agent.jar"))
                .run(Detaching.class)
                .assertSilent();
    }

    static final class Detaching {
        private static String attach(VirtualMachine self, String options) throws Exception {
            self.loadAgent(System.getProperty("agent.jar"), options);
            return System.getProperty("taskclock.agent");
        }

        private static Thread start(Web web, String path) {
            Thread thread = new Thread(() -> {
                try {
                    assertThat(web.get(path)).isEqualTo(200);
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            thread.start();
            return thread;
        }

        private static void awaitRunning(Web web, int count) throws InterruptedException {
            long end = System.nanoTime() + TIMEOUT_NANOS;
            while (web.running.get() < count) {
                assertThat(System.nanoTime() - end).as("requests do not run").isNegative();
                Thread.sleep(5);
            }
        }

        public static void main(String[] args) throws Exception {
            VirtualMachine self =
                    VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            try (Web web = new Web(false)) {
                web.get("/light/1"); // the classes are loaded before the agent
                Thread unseen = start(web, "/blocking");
                awaitRunning(web, 1);
                assertThat(attach(self, "accounts=endpoint"))
                        .contains(",accounts=endpoint")
                        .doesNotContain("unavailable");
                Thread seen = start(web, "/blocking");
                awaitRunning(web, 2);
                web.get("/light/1");
                assertUsage(awaitSections("endpoint", "/shop/light/*", 1), 1, 1_000_000);
                assertThat(usageNow().openSections()).hasSize(1);

                assertThat(TaskClockHooks.redefinitions(HttpServlet.class)).isEqualTo(1);
                assertThat(attach(self, "detach")).endsWith("; detached");
                assertThat(TaskClockHooks.redefinitions(HttpServlet.class)).isEqualTo(2);
                web.get("/light/1");
                assertThat(usage("endpoint", "/shop/light/*").sections()).isEqualTo(1);
                assertThat(attach(self, "accounts=endpoint+topic")).contains(",accounts=endpoint+topic");
                web.get("/light/1");
                assertThat(awaitSections("endpoint", "/shop/light/*", 2).sections())
                        .isEqualTo(2);

                assertThat(attach(self, "accounts=off")).doesNotContain("accounts", "unavailable");
                web.blocked.countDown();
                unseen.join();
                seen.join();
                // Only the second one had a section, which outlived the agent.
                AccountUsage blocking = awaitSections("endpoint", "/shop/blocking", 1);
                assertUsage(blocking, 1, 1_000_000);
                assertThat(usageNow().openSections()).isEmpty();
                // Changed and restored, twice.
                assertThat(TaskClockHooks.redefinitions(HttpServlet.class)).isEqualTo(4);
                assertThat(AgentCheck.bean().getFailures()).isZero();
            }
            self.detach();
        }

        private static AccountReading usageNow() {
            return CpuAccounts.type("endpoint").read();
        }
    }

    /** Nothing is found in a program without any of the classes. */
    @Test
    void shouldStaySilentWithoutTheClasses() throws Exception {
        quietly(JvmLauncher.withAgent("accounts=endpoint+topic"))
                .run(Empty.class)
                .assertSilent();
    }

    static final class Empty {
        public static void main(String[] args) throws Exception {
            AgentCheck.awaitDeferredFeatures();
            assertThat(System.getProperty("taskclock.agent"))
                    .contains(",accounts=endpoint+topic")
                    .doesNotContain("unavailable");
            assertThat(CpuAccounts.read())
                    .allSatisfy(reading -> assertThat(reading.accounts()).isEmpty());
            assertThat(List.of(AgentCheck.bean().getFeatures()))
                    .anyMatch(
                            f -> f.getName().equals("accounts") && f.getState().equals("endpoint+topic"));
        }
    }

    /** The kill switch removes accounts, too, and restores them. */
    @Test
    void shouldFollowTheKillSwitch() throws Exception {
        quietly(JvmLauncher.withAgent("accounts=endpoint")).run(Killed.class).assertSilent();
    }

    static final class Killed {
        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            try (Web web = new Web(false)) {
                bean.setEnabled(false);
                web.get("/light/1");
                bean.setEnabled(true);
                web.get("/light/2");
                assertThat(awaitSections("endpoint", "/shop/light/*", 1).sections())
                        .isEqualTo(1);
                AtomicBoolean isOn = new AtomicBoolean();
                for (TaskClockMXBean.Feature feature : bean.getFeatures())
                    if (feature.getName().equals("accounts"))
                        isOn.set(feature.getState().equals("endpoint"));
                assertThat(isOn).isTrue();
            }
        }
    }
}
