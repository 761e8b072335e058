// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.util.function.BooleanSupplier;

/**
 * The memory that a reply takes while it is read and parsed. It is limited for each reply and for all together, because
 * any JVM can send anything, and many at the same time. If there is none left, a short reply waits for the others,
 * which have deadlines. Confined to one thread.
 */
final class ReplyMemory implements AutoCloseable {
    /** For all replies together. */
    private static final long ALL_BYTES = Runtime.getRuntime().maxMemory() / 4;

    private static final long MAX_BYTES = ALL_BYTES / 2;

    /** Any reply may take so much, so that those of ordinary JVMs do not wait. */
    private static final long FREE_BYTES = ALL_BYTES / 128;

    /** A reply that has taken so much does not wait, because others that are as long may wait for it. */
    private static final long MAX_WAITING_BYTES = ALL_BYTES / 8;

    private static final long CHECK_MILLIS = 20;

    private static final Object LOCK = new Object();
    private static long taken; // guarded by LOCK

    private final BooleanSupplier isWanted;
    private long own;

    /**
     * Creates an account with nothing in it.
     *
     * @param isWanted whether somebody still waits for the reply
     */
    ReplyMemory(BooleanSupplier isWanted) {
        this.isWanted = isWanted;
    }

    /** Sets how much this reply takes. Waits if the others leave too little. */
    void set(long bytes) throws IOException {
        if (bytes > MAX_BYTES) throw new IOException("its reply is too long for the memory of this process");
        long counted = Math.max(0, bytes - FREE_BYTES);
        if (counted == own) return;
        synchronized (LOCK) {
            try {
                while (counted > own && taken - own + counted > ALL_BYTES) {
                    if (own > MAX_WAITING_BYTES) throw new IOException("there is no memory left for its reply");
                    if (!isWanted.getAsBoolean()) throw new IOException("nobody waits for its reply any more");
                    LOCK.wait(CHECK_MILLIS);
                }
            } catch (InterruptedException e) {
                throw new IOException("interrupted", e);
            }
            taken += counted - own;
            own = counted;
            LOCK.notifyAll();
        }
    }

    @Override
    public void close() {
        synchronized (LOCK) {
            taken -= own;
            own = 0;
            LOCK.notifyAll();
        }
    }
}
