// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.server.Request;

/** Limits the memory of all concurrent answers. Thread-safe. */
final class RequestBudget {
    private static final int UNIT = 1 << 10;

    /** Each waiting request occupies a thread that other requests may need. */
    private static final int MAX_WAITING = 16;

    private final int size;
    private final Semaphore free;
    private final AtomicInteger waiting = new AtomicInteger();
    private final long waitMillis;

    /** Memory that is reserved for an answer until it has been sent. */
    final class Share {
        private int units;

        private Share(int units) {
            this.units = units;
        }

        /** Reduces the reservation, for example to the size of the text. */
        synchronized void keep(long bytes) {
            int kept = Math.min(units, units(bytes));
            free.release(units - kept);
            units = kept;
        }
    }

    RequestBudget(long bytes, long waitMillis) {
        size = (int) Math.max(1, Math.min(Integer.MAX_VALUE, bytes / UNIT));
        free = new Semaphore(size, true);
        this.waitMillis = waitMillis;
    }

    /** A quarter of the heap. The rest is for samples, the writer of the history, and events for browsers. */
    static RequestBudget ofHeap() {
        return new RequestBudget(Runtime.getRuntime().maxMemory() / 4, TimeUnit.SECONDS.toMillis(5));
    }

    private int units(long bytes) {
        return (int) Math.min(size, (bytes + UNIT - 1) / UNIT);
    }

    /** Reserves memory until the call has been answered. Waits for a short time if necessary. */
    Share take(Call call, long bytes) throws ApiException {
        int units = units(bytes);
        if (!free.tryAcquire(units) && !await(units))
            throw new ApiException(503, "too many large requests at the same time: try again in a few seconds");
        Share share = new Share(units);
        Request.addCompletionListener(call.request, failure -> share.keep(0));
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
