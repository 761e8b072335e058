// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.taskclock.agent.ProgramAccountsTest.assertUsage;
import static org.taskclock.agent.ProgramAccountsTest.awaitSections;
import static org.taskclock.agent.ProgramAccountsTest.burn;
import static org.taskclock.agent.ProgramAccountsTest.usage;

import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.LongAdder;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;
import org.taskclock.internal.JdkVersions;

/** The accounts that the agent finds in Spring MVC, gRPC, Spring Kafka, and by the names of virtual threads. */
class ProgramLibrariesTest {
    private static final int CALLS = 30;

    private static JvmLauncher withAccounts(String accounts) {
        return JvmLauncher.withAgent("accounts=" + accounts)
                .option(ProgramAccountsTest.QUIET)
                .usingLibrary();
    }

    @Test
    void shouldCountEachHandlerOfSpring() throws Exception {
        withAccounts("endpoint").run(Spring.class).assertSilent();
    }

    static final class Spring {
        static final LongAdder LIGHT = new LongAdder();
        static final LongAdder HEAVY = new LongAdder();

        @Configuration
        @EnableWebMvc
        @RestController
        static class Orders {
            @GetMapping(path = "/orders/{id}", produces = "text/plain")
            String order(@PathVariable("id") int id) {
                HEAVY.add(burn(3_000_000));
                return "order " + id;
            }

            @GetMapping("/failing/{id}")
            void fail(@PathVariable("id") int id) {
                throw new IllegalStateException("expected by the test " + id);
            }

            @Bean
            RouterFunction<ServerResponse> lines() {
                return RouterFunctions.route()
                        .GET("/lines/{line}", request -> {
                            LIGHT.add(burn(1_000_000));
                            return ServerResponse.ok().build();
                        })
                        .build();
            }
        }

        public static void main(String[] args) throws Exception {
            Path directory = Files.createTempDirectory("tomcat");
            Tomcat tomcat = new Tomcat();
            tomcat.setBaseDir(directory.toString());
            tomcat.setPort(0);
            tomcat.getConnector()
                    .setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
            Context context = tomcat.addContext("/app", directory.toString());
            AnnotationConfigWebApplicationContext spring = new AnnotationConfigWebApplicationContext();
            spring.register(Orders.class);
            Wrapper servlet = Tomcat.addServlet(context, "dispatcher", new DispatcherServlet(spring));
            servlet.addMapping("/api/*");
            tomcat.start();
            try {
                request(tomcat.getConnector().getLocalPort());
            } finally {
                tomcat.stop();
                tomcat.destroy();
            }
        }

        private static void request(int port) throws Exception {
            for (int i = 0; i < CALLS; i++) {
                assertThat(get(port, "/app/api/orders/" + i)).isEqualTo(200);
                assertThat(get(port, "/app/api/lines/" + i)).isEqualTo(200);
                assertThat(get(port, "/app/api/failing/" + i)).isEqualTo(500);
                assertThat(get(port, "/app/api/missing/" + i)).isEqualTo(404);
            }
            assertUsage(awaitSections("endpoint", "/app/api/orders/{id}", CALLS), CALLS, HEAVY.sum());
            assertUsage(awaitSections("endpoint", "/app/api/lines/{line}", CALLS), CALLS, LIGHT.sum());
            assertUsage(awaitSections("endpoint", "/app/api/failing/{id}", CALLS), CALLS, 0);
            // The dispatcher's own part, and requests without a handler.
            assertUsage(awaitSections("endpoint", "/app/api/*", 4 * CALLS), 4 * CALLS, 0);
            assertThat(AgentCheck.bean().getFailures()).isZero();
        }

        private static int get(int port, String path) throws IOException, InterruptedException {
            URI uri = URI.create("http://127.0.0.1:" + port + path);
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }

    @Test
    void shouldCountEachMethodOfGrpc() throws Exception {
        withAccounts("endpoint").run(Grpc.class).assertSilent();
    }

    static final class Grpc {
        private static final LongAdder LIGHT = new LongAdder();
        private static final LongAdder HEAVY = new LongAdder();

        private static final MethodDescriptor.Marshaller<String> TEXT = new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(String text) {
                return new ByteArrayInputStream(new byte[text.length()]);
            }

            @Override
            public String parse(InputStream stream) {
                return "";
            }
        };

        private static MethodDescriptor<String, String> method(String name) {
            return MethodDescriptor.newBuilder(TEXT, TEXT)
                    .setType(MethodDescriptor.MethodType.UNARY)
                    .setFullMethodName("shop.Orders/" + name)
                    .build();
        }

        private static ServerCalls.UnaryMethod<String, String> burning(long nanos, LongAdder all) {
            return (request, observer) -> {
                all.add(burn(nanos));
                observer.onNext("");
                observer.onCompleted();
            };
        }

        public static void main(String[] args) throws Exception {
            MethodDescriptor<String, String> light = method("Light");
            MethodDescriptor<String, String> heavy = method("Heavy");
            MethodDescriptor<String, String> failing = method("Failing");
            ServerServiceDefinition service = ServerServiceDefinition.builder("shop.Orders")
                    .addMethod(light, ServerCalls.asyncUnaryCall(burning(1_000_000, LIGHT)))
                    .addMethod(heavy, ServerCalls.asyncUnaryCall(burning(3_000_000, HEAVY)))
                    .addMethod(failing, ServerCalls.asyncUnaryCall((request, observer) -> {
                        throw new IllegalStateException("expected by the test");
                    }))
                    .build();
            Server server =
                    InProcessServerBuilder.forName("test").addService(service).build();
            server.start();
            ManagedChannel channel = InProcessChannelBuilder.forName("test").build();
            for (int i = 0; i < CALLS; i++) {
                ClientCalls.blockingUnaryCall(channel, light, io.grpc.CallOptions.DEFAULT, "a");
                ClientCalls.blockingUnaryCall(channel, heavy, io.grpc.CallOptions.DEFAULT, "b");
                assertThatThrownBy(
                                () -> ClientCalls.blockingUnaryCall(channel, failing, io.grpc.CallOptions.DEFAULT, "c"))
                        .isInstanceOf(StatusRuntimeException.class);
            }
            channel.shutdown();
            server.shutdown();
            server.awaitTermination();
            // A call has four callbacks: ready, message, end of messages, and end of the call.
            assertCalls("shop.Orders/Light", LIGHT.sum());
            assertCalls("shop.Orders/Heavy", HEAVY.sum());
            assertCalls("shop.Orders/Failing", 0);
            assertThat(AgentCheck.bean().getFailures()).isZero();
        }

        private static void assertCalls(String name, long burntNanos) throws InterruptedException {
            AccountUsage row = awaitSections("endpoint", name, 4 * CALLS);
            assertThat(row.sections()).isEqualTo(4L * CALLS);
            assertUsage(row, row.sections(), burntNanos);
        }
    }

    @Test
    void shouldCountEachTopicOfSpringKafka() throws Exception {
        withAccounts("topic")
                .option("-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
                .run(Kafka.class)
                .assertSilent();
    }

    static final class Kafka {
        private static final LongAdder NANOS = new LongAdder();

        /** The container of Spring Kafka, with the consumer that Kafka has for tests. */
        public static void main(String[] args) throws Exception {
            MockConsumer<String, String> consumer = new MockConsumer<>(OffsetResetStrategy.EARLIEST);
            List<String> topics = List.of("orders", "payments");
            for (String topic : topics) consumer.updateBeginningOffsets(Map.of(new TopicPartition(topic, 0), 0L));
            ContainerProperties properties = new ContainerProperties(
                    new TopicPartitionOffset("orders", 0, 0L), new TopicPartitionOffset("payments", 0, 0L));
            properties.setGroupId("test");
            properties.setMessageListener((MessageListener<String, String>) record -> {
                if (record.topic().equals("orders")) NANOS.add(burn(2_000_000));
            });
            KafkaMessageListenerContainer<String, String> container =
                    new KafkaMessageListenerContainer<>(new MockFactory(consumer), properties);
            container.start();
            try {
                consume(consumer, topics);
            } finally {
                container.stop();
            }
        }

        private static void consume(MockConsumer<String, String> consumer, List<String> topics) throws Exception {
            for (int i = 0; i < CALLS; i++) {
                long offset = i;
                consumer.schedulePollTask(() -> topics.forEach(
                        topic -> consumer.addRecord(new ConsumerRecord<>(topic, 0, offset, "key", "value"))));
            }
            assertUsage(awaitSections("topic", "orders", CALLS), CALLS, NANOS.sum());
            assertUsage(awaitSections("topic", "payments", CALLS), CALLS, 0);
            assertThat(AgentCheck.bean().getFailures()).isZero();
        }

        private record MockFactory(Consumer<String, String> consumer) implements ConsumerFactory<String, String> {
            @Override
            public Consumer<String, String> createConsumer(String group, String prefix, String suffix) {
                return consumer;
            }

            @Override
            public Consumer<String, String> createConsumer(
                    String group, String prefix, String suffix, Properties properties) {
                return consumer;
            }

            @Override
            public Map<String, Object> getConfigurationProperties() {
                return Map.of();
            }

            @Override
            public boolean isAutoCommit() {
                return false;
            }
        }
    }

    @Test
    void shouldCountVirtualThreadsByName() throws Exception {
        JvmLauncher.Result result = withAccounts("group+endpoint").run(Groups.class);
        if (JvmLauncher.feature() >= JdkVersions.VIRTUAL_THREADS) {
            result.assertSilent();
        } else {
            assertThat(result.err())
                    .isEqualTo("taskclock: agent: unavailable: accounts: group requires vthreads=on, and JDK 21 or"
                            + " later\n");
        }
    }

    static final class Groups {
        public static void main(String[] args) throws Exception {
            if (Runtime.version().feature() < JdkVersions.VIRTUAL_THREADS) {
                assertThat(System.getProperty("taskclock.agent")).contains(",accounts=endpoint;");
                AgentCheck.bean().detach();
                return;
            }
            assertThat(System.getProperty("taskclock.agent")).contains(",accounts=endpoint+group");
            LongAdder nanos = new LongAdder();
            for (int i = 0; i < CALLS; i++) start("worker-" + i, () -> nanos.add(burn(2_000_000)));
            // The agent passes on what it has counted once a second.
            assertUsage(awaitSections("group", "worker-#", CALLS), CALLS, nanos.sum());
            AgentCheck.bean().detach();
            start("worker-late", () -> {});
            assertThat(usage("group", "worker-#").sections()).isEqualTo(CALLS);
            assertThat(CpuAccounts.type("group").read().accounts())
                    .noneMatch(row -> row.name().equals("worker-late"));
        }

        private static void start(String name, Runnable task) throws Exception {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Object named = type.getMethod("name", String.class).invoke(builder, name);
            Thread thread = (Thread) type.getMethod("start", Runnable.class).invoke(named, task);
            thread.join();
        }
    }
}
