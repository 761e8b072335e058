// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.Promise;
import org.eclipse.jetty.util.thread.Invocable;

/** Receives request bodies, with limits on size and time. */
public final class RequestBody {
    private static final int MAX_BYTES = 64 << 10;

    /** The minimum rate at which a large body must arrive after the first seconds. */
    private static final long MIN_BYTES_PER_SECOND = 32 << 10;

    private RequestBody() {}

    /**
     * Receives a small body without blocking a thread, because the client may not have a token yet.
     *
     * @param onEnd receives the body, or the reason why it cannot be read; the other argument is null
     */
    static void receive(Request request, BiConsumer<byte[], ApiException> onEnd) {
        CompletableFuture<byte[]> body = new CompletableFuture<>();
        if (request.getLength() > MAX_BYTES) body.completeExceptionally(tooLarge());
        else
            Content.Source.asByteArrayAsync(
                    request,
                    MAX_BYTES,
                    Promise.Invocable.from(
                            Invocable.InvocationType.NON_BLOCKING, body::complete, body::completeExceptionally));
        var unused = body.orTimeout(maxMillis(request), TimeUnit.MILLISECONDS)
                .whenCompleteAsync(
                        (bytes, failure) -> onEnd.accept(bytes, failure == null ? null : reason(failure)),
                        request.getComponents().getExecutor());
    }

    private static long maxMillis(Request request) {
        Object limit = request.getAttribute(SlowRequests.MAX_MILLIS);
        return limit instanceof Long millis ? millis : WebServer.RECEIVE_MILLIS;
    }

    private static ApiException reason(Throwable failure) {
        if (failure instanceof ApiException e) return e;
        if (failure instanceof TimeoutException) return tooSlow();
        // Jetty's message for a body of unknown length that is too large.
        if (failure instanceof IllegalStateException) return tooLarge();
        return ApiException.badRequest("the body cannot be read: " + failure.getMessage());
    }

    private static ApiException tooLarge() {
        return new ApiException(413, "the body is too large: at most " + MAX_BYTES + " bytes are read");
    }

    private static ApiException tooSlow() {
        return new ApiException(408, "the body arrives too slowly");
    }

    /**
     * Copies a large body, at most one byte more than {@code maxBytes}, and returns its size. The calling thread waits
     * for it.
     */
    public static long copy(Request request, OutputStream out, long maxBytes) throws ApiException, IOException {
        byte[] buffer = new byte[1 << 16];
        long total = 0;
        long maxMillis = maxMillis(request);
        long start = System.nanoTime();
        try (InputStream in = Request.asInputStream(request)) {
            for (int read; total <= maxBytes && (read = in.read(buffer)) >= 0; ) {
                total += read;
                if (total <= maxBytes) out.write(buffer, 0, read);
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                if (millis > maxMillis + 1_000 * total / MIN_BYTES_PER_SECOND) throw tooSlow();
            }
        }
        return total;
    }
}
