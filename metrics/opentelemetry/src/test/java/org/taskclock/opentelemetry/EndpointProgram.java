// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.taskclock.CpuAccounts;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.MeasuredWork;

/**
 * A web server with Spring MVC, whose handlers know nothing of OpenTelemetry and accounts. Sends itself requests and
 * prints what the handlers used, and the rows of the accounts.
 */
final class EndpointProgram {
    private static final int REQUESTS = 10;

    private static final LongAdder BURNED = new LongAdder();

    private EndpointProgram() {}

    @EnableWebMvc
    @RestController
    static class Handlers {
        private final ExecutorService pool = executor();

        @GetMapping("/burn/{ms}")
        String burn(@PathVariable("ms") int ms) throws Exception {
            use(ms / 2);
            pool.submit(() -> use(ms / 2)).get();
            return "burned";
        }

        private static void use(int ms) {
            long start = TaskClock.cpuNanos();
            long used;
            do {
                used = TaskClock.cpuNanos() - start;
            } while (used < ms * 1_000_000L);
            BURNED.add(used);
        }
    }

    private static ExecutorService executor() {
        if (Runtime.version().feature() < JdkVersions.VIRTUAL_THREADS) return Executors.newFixedThreadPool(2);
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("no virtual threads", e);
        }
    }

    public static void main(String[] args) throws Exception {
        String state = System.getProperty("taskclock.agent");
        while (state != null && !System.getProperty("taskclock.agent").contains(",backend=")) Thread.sleep(5);
        Path directory = Files.createTempDirectory("tomcat");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        tomcat.setPort(0);
        tomcat.getConnector()
                .setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
        Context context = tomcat.addContext("/shop", directory.toString());
        AnnotationConfigWebApplicationContext spring = new AnnotationConfigWebApplicationContext();
        spring.register(Handlers.class);
        Tomcat.addServlet(context, "dispatcher", new DispatcherServlet(spring)).addMapping("/*");
        tomcat.start();
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 0; i < REQUESTS; i++) {
            for (String path : new String[] {"/shop/burn/100", "/shop/missing"}) {
                URI uri = URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + path);
                client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding());
            }
        }
        // The span of the last request may end after the response.
        MeasuredWork.await(() -> read() >= REQUESTS, "requests are missing");
        System.out.println("handlers " + BURNED.sum() + " ns");
        CpuAccounts.type("endpoint")
                .read()
                .accounts()
                .forEach(row -> System.out.println(row.name() + " " + row.cpuNanos() + " ns, " + row.sections()
                        + " sections, " + row.uncounted() + " uncounted"));
        Thread.sleep(1_000); // OpenTelemetry's agent exports
        System.exit(0);
    }

    private static long read() {
        return CpuAccounts.type("endpoint").read().accounts().stream()
                .filter(row -> row.name().startsWith("/shop/burn"))
                .mapToLong(row -> row.sections())
                .sum();
    }
}
