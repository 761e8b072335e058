// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls of a server in this process, whose callbacks run on a pool. */
class GrpcAccountsTest {
    private final CountedWork work = new CountedWork();
    private final CountedWork otherWork = new CountedWork();
    private final ExecutorService pool = Executors.newFixedThreadPool(3);
    private final ExecutorService otherPool = Executors.newSingleThreadExecutor();
    private final AtomicInteger calls = new AtomicInteger();
    private Server server;
    private ManagedChannel channel;

    /** Strings, whose serialization on the server is work, too. */
    private final class Text implements MethodDescriptor.Marshaller<String> {
        private final boolean isResponse;

        Text(boolean isResponse) {
            this.isResponse = isResponse;
        }

        @Override
        public InputStream stream(String value) {
            if (isResponse) work.run();
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private MethodDescriptor<String, String> method(String name, MethodDescriptor.MethodType type) {
        return MethodDescriptor.newBuilder(new Text(false), new Text(true))
                .setFullMethodName("shop.Orders/" + name)
                .setType(type)
                .build();
    }

    private final MethodDescriptor<String, String> get = method("Get", MethodDescriptor.MethodType.UNARY);
    private final MethodDescriptor<String, String> fail = method("Fail", MethodDescriptor.MethodType.UNARY);
    private final MethodDescriptor<String, String> later = method("Later", MethodDescriptor.MethodType.UNARY);
    private final MethodDescriptor<String, String> sum = method("Sum", MethodDescriptor.MethodType.CLIENT_STREAMING);

    private void answer(String request, StreamObserver<String> response) {
        work.run();
        response.onNext(request);
        response.onCompleted();
    }

    private void fail(String request, StreamObserver<String> response) {
        work.run();
        throw new IllegalArgumentException(request);
    }

    /** Answers on a thread of its own, where only sending counts. */
    private void answerLater(String request, StreamObserver<String> response) {
        work.run();
        otherPool.execute(() -> {
            otherWork.repeat(8);
            response.onNext(request);
            response.onCompleted();
        });
    }

    private StreamObserver<String> add(StreamObserver<String> response) {
        work.run();
        return new StreamObserver<>() {
            @Override
            public void onNext(String request) {
                work.run();
            }

            @Override
            public void onError(Throwable failure) {
                work.run();
            }

            @Override
            public void onCompleted() {
                answer("sum", response);
            }
        };
    }

    /** Counts the calls of a call's listener, and the start of the call. */
    private final ServerInterceptor counting = new ServerInterceptor() {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            calls.incrementAndGet();
            ServerCall.Listener<Q> listener = next.startCall(call, headers);
            return new ServerCall.Listener<>() {
                @Override
                public void onMessage(Q message) {
                    calls.incrementAndGet();
                    listener.onMessage(message);
                }

                @Override
                public void onHalfClose() {
                    calls.incrementAndGet();
                    listener.onHalfClose();
                }

                @Override
                public void onCancel() {
                    calls.incrementAndGet();
                    listener.onCancel();
                }

                @Override
                public void onComplete() {
                    calls.incrementAndGet();
                    listener.onComplete();
                }

                @Override
                public void onReady() {
                    calls.incrementAndGet();
                    listener.onReady();
                }
            };
        }
    };

    @BeforeEach
    void start() throws IOException {
        String name = InProcessServerBuilder.generateName();
        server = InProcessServerBuilder.forName(name)
                .executor(pool)
                .addService(ServerServiceDefinition.builder("shop.Orders")
                        .addMethod(get, ServerCalls.asyncUnaryCall(this::answer))
                        .addMethod(fail, ServerCalls.asyncUnaryCall(this::fail))
                        .addMethod(later, ServerCalls.asyncUnaryCall(this::answerLater))
                        .addMethod(sum, ServerCalls.asyncClientStreamingCall(this::add))
                        .build())
                .intercept(counting)
                .intercept(GrpcAccounts.byMethod()) // the last one is called first
                .intercept(GrpcAccounts.byHeader("x-tenant"))
                .build()
                .start();
        channel = InProcessChannelBuilder.forName(name).build();
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.shutdownNow();
        server.shutdownNow();
        assertThat(server.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        pool.shutdown();
        otherPool.shutdown();
    }

    private Channel channel(String tenant) {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("x-tenant", Metadata.ASCII_STRING_MARSHALLER), tenant);
        return io.grpc.ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    private void assertCounted(String tenant, MethodDescriptor<?, ?> method, int moreSections) throws Exception {
        server.shutdown();
        channel.shutdown();
        assertThat(server.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        work.assertCounted("endpoint", method.getFullMethodName(), calls.get() + moreSections);
        work.assertCounted("tenant", tenant, calls.get() + moreSections);
    }

    @Test
    void shouldCountAllCallbacksOfUnaryCalls() throws Exception {
        for (int i = 0; i < 6; i++)
            assertThat(ClientCalls.blockingUnaryCall(channel("grpc-unary"), get, CallOptions.DEFAULT, "order"))
                    .isEqualTo("order");
        assertThat(work.portions()).isEqualTo(12);
        assertThat(calls).hasValueGreaterThanOrEqualTo(24);
        assertCounted("grpc-unary", get, 0);
    }

    @Test
    void shouldCloseTheSectionsOfFailedCalls() throws Exception {
        for (int i = 0; i < 6; i++)
            assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(
                            channel("grpc-failing"), fail, CallOptions.DEFAULT, "bad order"))
                    .isInstanceOfSatisfying(
                            StatusRuntimeException.class,
                            e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNKNOWN));
        assertThat(work.portions()).isEqualTo(6);
        assertCounted("grpc-failing", fail, 0);
    }

    @Test
    void shouldCountMessagesThatOtherThreadsSend() throws Exception {
        for (int i = 0; i < 6; i++)
            assertThat(ClientCalls.blockingUnaryCall(channel("grpc-later"), later, CallOptions.DEFAULT, "order"))
                    .isEqualTo("order");
        assertThat(work.portions()).isEqualTo(12);
        assertThat(otherWork.portions()).isEqualTo(48);
        assertCounted("grpc-later", later, 6);
    }

    @Test
    void shouldCountStreamsOnAllThreads() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        StreamObserver<String> requests = ClientCalls.asyncClientStreamingCall(
                channel("grpc-streaming").newCall(sum, CallOptions.DEFAULT), new StreamObserver<>() {
                    @Override
                    public void onNext(String response) {}

                    @Override
                    public void onError(Throwable failure) {}

                    @Override
                    public void onCompleted() {
                        done.countDown();
                    }
                });
        for (int i = 0; i < 10; i++) requests.onNext("order");
        requests.onCompleted();
        assertThat(done.await(1, TimeUnit.MINUTES)).isTrue();
        assertThat(work.portions()).isEqualTo(13);
        assertCounted("grpc-streaming", sum, 0);
    }

    @Test
    void shouldCountCancelledCalls() throws Exception {
        StreamObserver<String> requests = ClientCalls.asyncClientStreamingCall(
                channel("grpc-cancelled").newCall(sum, CallOptions.DEFAULT), new StreamObserver<>() {
                    @Override
                    public void onNext(String response) {}

                    @Override
                    public void onError(Throwable failure) {}

                    @Override
                    public void onCompleted() {}
                });
        for (int i = 0; i < 4; i++) requests.onNext("order");
        CountedWork.await(() -> work.portions() == 5, "the messages have not arrived");
        requests.onError(new IllegalStateException("cancelled"));
        CountedWork.await(() -> work.portions() == 6, "the call was not cancelled");
        assertThat(calls).hasValueGreaterThanOrEqualTo(6);
        server.shutdown();
        assertThat(server.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        work.assertCounted("tenant", "grpc-cancelled", calls.get());
    }
}
