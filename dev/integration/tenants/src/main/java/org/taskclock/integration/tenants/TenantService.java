// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.taskclock.integration.RequestWork;

/**
 * A web service with several tenants, whose requests run on virtual threads. The header {@code X-Tenant} names the
 * tenant; a real service would authenticate it. Prints its port when it is ready, and the usage of all tenants for each
 * byte of its standard input, and ends with it.
 */
@SpringBootApplication
@RestController
public class TenantService {
    private static final long ORDER_MILLIS = 50;
    private static final int SIEVE = 100_000;

    /** A row of the catalog. */
    public record Row(int id, String name) {}

    /** The CPU time of a tenant and of its endpoints, in nanoseconds, and the number of sections not counted. */
    public record Usage(long cpuNanos, Map<String, Long> endpoints, long uncounted) {}

    public static void main(String[] args) throws IOException {
        SpringApplication application = new SpringApplication(TenantService.class);
        application.setDefaultProperties(Map.of(
                "server.address", "127.0.0.1",
                "server.port", "0",
                "spring.threads.virtual.enabled", "true",
                "spring.main.banner-mode", "off",
                "server.tomcat.max-keep-alive-requests", "-1"));
        ServletWebServerApplicationContext context = (ServletWebServerApplicationContext) application.run(args);
        System.out.println("port " + context.getWebServer().getPort());
        ObjectMapper json = new ObjectMapper();
        // Not a request, because in a storm it would wait with the others.
        for (int next = System.in.read(); next >= 0; next = System.in.read()) {
            System.out.println("usage " + json.writeValueAsString(usage()));
        }
        System.exit(0);
    }

    /** Takes little CPU time. */
    @GetMapping("/catalog")
    Row[] catalog() {
        Row[] rows = new Row[100];
        for (int i = 0; i < rows.length; i++) rows[i] = new Row(i, "row " + i * 31);
        return rows;
    }

    /** Takes a few milliseconds of CPU time. */
    @GetMapping("/search")
    int search() {
        return work(5);
    }

    /** Waits most of the time, as for a database. */
    @GetMapping("/orders")
    Row[] orders() throws InterruptedException {
        Thread.sleep(ORDER_MILLIS);
        return catalog();
    }

    /** Takes much CPU time. */
    @GetMapping("/reports")
    int reports() {
        return work(40);
    }

    private static int work(int sieves) {
        int primes = 0;
        for (int i = 0; i < sieves; i++) primes += RequestWork.primes(SIEVE);
        return primes;
    }

    private static Map<String, Usage> usage() {
        Map<String, Usage> usage = new TreeMap<>();
        for (String tenant : Tenants.NAMES) {
            long cpuNanos = Tenants.TENANT.of(tenant).cpuNanos();
            usage.put(tenant, new Usage(cpuNanos, Tenants.cpuByEndpoint(tenant), Tenants.uncounted(tenant)));
        }
        return usage;
    }
}
