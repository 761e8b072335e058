// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.function.BiFunction;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;

/**
 * Counts the CPU time of gRPC calls on a server for named accounts:
 *
 * <pre>{@code
 * serverBuilder.intercept(GrpcAccounts.byMethod());
 * }</pre>
 *
 * <p>gRPC runs a call as a series of callbacks, each on whatever thread is free. Each of them is a section: starting
 * the call, each message, the end of the request, readiness, completion, and cancellation. Sending a message is one if
 * another thread does it. So a call has several sections. Other interceptors count if they come after this one. What
 * gRPC itself does between the callbacks is not counted, such as parsing requests and compressing responses on the
 * transport's thread.
 *
 * <p>The account is in the {@link AccountContext} during the callbacks, so that bindings carry it to other threads.
 *
 * <p>Thread-safe.
 */
@SuppressWarnings("try") // the scopes only need to be open
public final class GrpcAccounts implements ServerInterceptor {
    private final AccountType type;
    private final BiFunction<ServerCall<?, ?>, Metadata, String> name;

    /**
     * Creates an interceptor that takes the name of the account from the call.
     *
     * @param type the type of the accounts
     * @param name returns the name, once for each call; null or a blank name counts for {@value AccountContext#NO_NAME}
     */
    public GrpcAccounts(AccountType type, BiFunction<ServerCall<?, ?>, Metadata, String> name) {
        if (type == null) throw new NullPointerException("type");
        if (name == null) throw new NullPointerException("name");
        this.type = type;
        this.name = name;
    }

    /**
     * Creates an interceptor for accounts of the type {@code endpoint}, named by the full name of the method, such as
     * {@code shop.Orders/Get}.
     *
     * @return the interceptor
     */
    public static GrpcAccounts byMethod() {
        return new GrpcAccounts(CpuAccounts.type("endpoint"), (call, headers) -> call.getMethodDescriptor()
                .getFullMethodName());
    }

    /**
     * Creates an interceptor for accounts of the type {@code tenant}. Clients can send any header; see
     * {@link AccountFilter#byHeader}.
     *
     * @param header the name of the header that names the tenant, in lower case
     * @return the interceptor
     */
    public static GrpcAccounts byHeader(String header) {
        Metadata.Key<String> key = Metadata.Key.of(header, Metadata.ASCII_STRING_MARSHALLER);
        return new GrpcAccounts(CpuAccounts.type("tenant"), (call, headers) -> headers.get(key));
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        CpuAccount account = AccountContext.account(type, name.apply(call, headers));
        ServerCall<Q, R> counted = new SimpleForwardingServerCall<>(call) {
            @Override
            public void sendMessage(R message) {
                try (AccountScope scope = AccountContext.enter(account)) {
                    super.sendMessage(message);
                }
            }
        };
        try (AccountScope scope = AccountContext.enter(account)) {
            return new CountedListener<>(next.startCall(counted, headers), account);
        }
    }

    private static final class CountedListener<Q>
            extends ForwardingServerCallListener.SimpleForwardingServerCallListener<Q> {
        private final CpuAccount account;

        CountedListener(ServerCall.Listener<Q> listener, CpuAccount account) {
            super(listener);
            this.account = account;
        }

        @Override
        public void onMessage(Q message) {
            try (AccountScope scope = AccountContext.enter(account)) {
                super.onMessage(message);
            }
        }

        @Override
        public void onHalfClose() {
            try (AccountScope scope = AccountContext.enter(account)) {
                super.onHalfClose();
            }
        }

        @Override
        public void onCancel() {
            try (AccountScope scope = AccountContext.enter(account)) {
                super.onCancel();
            }
        }

        @Override
        public void onComplete() {
            try (AccountScope scope = AccountContext.enter(account)) {
                super.onComplete();
            }
        }

        @Override
        public void onReady() {
            try (AccountScope scope = AccountContext.enter(account)) {
                super.onReady();
            }
        }
    }
}
