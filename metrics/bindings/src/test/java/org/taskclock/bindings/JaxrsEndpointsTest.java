// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.servlet.ServletContainer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Resources of Jersey in a servlet container. */
class JaxrsEndpointsTest {
    private final CountedWork work = new CountedWork();
    private final CountedWork otherWork = new CountedWork();
    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private WebServer server;

    /** Annotations may be on the interface of a resource. */
    @Path("/inherited")
    public interface Inherited {
        @GET
        @Path("{id}/")
        String get(@PathParam("id") String id);
    }

    public final class InheritingResource implements Inherited {
        @Override
        public String get(String id) {
            return work.run(id);
        }
    }

    @Path("orders")
    public final class Orders {
        @GET
        @Path("{id}")
        public String get(@PathParam("id") String id) {
            return work.run(id);
        }

        @GET
        @Path("{id}/failing")
        public String fail(@PathParam("id") String id) {
            work.run();
            throw new IllegalArgumentException(id);
        }

        @GET
        @Path("{id}/suspended")
        public void suspend(@PathParam("id") String id, @Suspended AsyncResponse response) {
            work.run();
            pool.execute(() -> {
                otherWork.repeat(4);
                response.resume(id);
            });
        }

        @GET
        @Path("{id}/stage")
        public CompletionStage<String> stage(@PathParam("id") String id) {
            work.run();
            return CompletableFuture.supplyAsync(
                    () -> {
                        otherWork.repeat(4);
                        return id;
                    },
                    pool);
        }

        @GET
        public String list() {
            return work.run("list");
        }
    }

    @BeforeEach
    void start() throws Exception {
        ResourceConfig application = new ResourceConfig()
                .register(JaxrsEndpoints.class)
                .register(new Orders())
                .register(new InheritingResource());
        server = new WebServer("/rest")
                .with(AccountFilter.byEndpoint())
                .with("/api/*", new ServletContainer(application))
                .start();
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        pool.shutdown();
    }

    private void request(String path, int status) throws Exception {
        for (int i = 0; i < 8; i++)
            assertThat(server.get("/rest/api/" + path, null)).isEqualTo(status);
        assertThat(work.portions()).isEqualTo(8);
    }

    @Test
    void shouldNameEndpointsByTheirTemplates() throws Exception {
        request("orders/1", 200);
        work.assertCounted("endpoint", "/rest/api/orders/{id}", 8);
    }

    @Test
    void shouldNameResourcesWithoutOwnPath() throws Exception {
        request("orders", 200);
        work.assertCounted("endpoint", "/rest/api/orders/", 8);
    }

    @Test
    void shouldFindInheritedTemplates() throws Exception {
        request("inherited/1", 200);
        work.assertCounted("endpoint", "/rest/api/inherited/{id}/", 8);
    }

    @Test
    void shouldCloseTheSectionsOfFailedRequests() throws Exception {
        request("orders/1/failing", 500);
        work.assertCounted("endpoint", "/rest/api/orders/{id}/failing", 8);
    }

    /** While the response is outstanding, the container's thread has no section open. */
    @Test
    void shouldCountOnlyTheThreadOfTheRequestIfTheResponseIsAsynchronous() throws Exception {
        request("orders/1/suspended", 200);
        work.assertCounted("endpoint", "/rest/api/orders/{id}/suspended", 8);
        assertThat(otherWork.portions()).isEqualTo(32);
    }

    @Test
    void shouldCountStages() throws Exception {
        request("orders/1/stage", 200);
        work.assertCounted("endpoint", "/rest/api/orders/{id}/stage", 8);
        assertThat(otherWork.portions()).isEqualTo(32);
    }

    /** The account of the servlet has a section for each request, but not what its resources used. */
    @Test
    void shouldKeepTheTimeBeforeRoutingApart() throws Exception {
        long sections = CountedWork.row("endpoint", "/rest/api/*").sections();
        long nanos = CountedWork.row("endpoint", "/rest/api/*").cpuNanos();
        request("orders/1", 200);
        assertThat(CountedWork.usage("endpoint", "/rest/api/*", sections + 8).cpuNanos() - nanos)
                .isLessThan(work.nanos() / 2);
    }
}
