// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Scheduler;

/** Limits the memory of all concurrent answers. Thread-safe. */
public final class RequestBudget {
    private static final int UNIT = 1 << 10;

    /** Each waiting request occupies a thread that other requests may need. */
    private static final int MAX_WAITING = 16;

    private final int size;
    private final Semaphore free;
    private final AtomicInteger waiting = new AtomicInteger();
    private final long waitMillis;
    private final long sendMillis;

    /** Memory that is reserved for an answer until it has been sent. */
    public final class Share {
        private final Request request;
        private int units;

        private Share(Request request, int units) {
            this.request = request;
            this.units = units;
        }

        /** Reduces the reservation to the size of the answer, which the client must then receive in time. */
        public void keep(long bytes) {
            reduce(bytes);
            Scheduler.Task limit = request.getComponents()
                    .getScheduler()
                    .schedule(
                            () -> request.getConnectionMetaData()
                                    .getConnection()
                                    .getEndPoint()
                                    .close(),
                            sendMillis,
                            TimeUnit.MILLISECONDS);
            Request.addCompletionListener(request, failure -> limit.cancel());
        }

        private synchronized void reduce(long bytes) {
            int kept = Math.min(units, units(bytes));
            free.release(units - kept);
            units = kept;
        }
    }

    /**
     * Creates a budget.
     *
     * @param waitMillis how long a request waits for memory
     * @param sendMillis how long a client may take to receive an answer
     */
    public RequestBudget(long bytes, long waitMillis, long sendMillis) {
        size = (int) Math.max(1, Math.min(Integer.MAX_VALUE, bytes / UNIT));
        free = new Semaphore(size, true);
        this.waitMillis = waitMillis;
        this.sendMillis = sendMillis;
    }

    /** A quarter of the heap. The rest is for samples, the writer of the history, and events for browsers. */
    public static RequestBudget ofHeap() {
        return new RequestBudget(
                Runtime.getRuntime().maxMemory() / 4, TimeUnit.SECONDS.toMillis(5), TimeUnit.MINUTES.toMillis(2));
    }

    private int units(long bytes) {
        return (int) Math.min(size, (bytes + UNIT - 1) / UNIT);
    }

    /** Reserves memory until the call has been answered. Waits for a short time if necessary. */
    public Share take(Call call, long bytes) throws ApiException {
        int units = units(bytes);
        if (!free.tryAcquire(units) && !await(units))
            throw new ApiException(503, "too many large requests at the same time: try again in a few seconds");
        Share share = new Share(call.request, units);
        Request.addCompletionListener(call.request, failure -> share.reduce(0));
        return share;
    }

    private boolean await(int units) throws ApiException {
        try {
            return waiting.incrementAndGet() <= MAX_WAITING
                    && free.tryAcquire(units, waitMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiException(503, "the server is being stopped");
        } finally {
            waiting.decrementAndGet();
        }
    }
}
