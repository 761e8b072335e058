// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A Spring Boot application on Tomcat, with requests on virtual threads and Micrometer metrics. */
@SpringBootApplication
@RestController
public class SpringLoad {
    private static final int CLIENTS = 32;

    /** A row of the answer. */
    public record Row(int id, String name) {}

    public static void main(String[] args) throws Exception {
        SpringApplication application = new SpringApplication(SpringLoad.class);
        application.setDefaultProperties(Map.of(
                "server.address", "127.0.0.1",
                "server.port", "0",
                "spring.threads.virtual.enabled", "true",
                "management.endpoints.web.exposure.include", "metrics,health",
                "spring.main.banner-mode", "off"));
        ConfigurableApplicationContext context = application.run(args);
        int port = ((ServletWebServerApplicationContext) context).getWebServer().getPort();
        HttpClients.start(
                Load.register(),
                port,
                CLIENTS,
                "/primes/1000",
                "/block",
                "/rows",
                "/primes/5000",
                "/rows",
                "/primes/1000",
                "/rows",
                "/actuator/health");
        Load.awaitEnd();
    }

    @GetMapping("/primes/{limit}")
    int primes(@PathVariable int limit) {
        return RequestWork.primes(limit);
    }

    @GetMapping("/block")
    String block() {
        RequestWork.block();
        return Thread.currentThread().isVirtual() ? "virtual" : "platform";
    }

    @GetMapping("/rows")
    Row[] rows() {
        Row[] rows = new Row[100];
        for (int i = 0; i < rows.length; i++) rows[i] = new Row(i, "row " + i * 31);
        return rows;
    }
}
