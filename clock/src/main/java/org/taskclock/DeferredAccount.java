// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The CPU time of work whose named account becomes known later, such as a request that has not been routed yet.
 * {@link AccountType#deferred} creates it.
 *
 * <pre>{@code
 * DeferredAccount request = ENDPOINT.deferred();
 * try (var section = request.enter()) {   // on each thread that works for it
 *     route = handle();
 * }
 * request.assign(route);
 * }</pre>
 *
 * <p>Its sections are sections of its type: on a thread, time counts only for the innermost. Until the account is
 * known, the time is a part of {@link AccountReading#retired()}, so it never counts twice, nor as
 * {@link AccountReading#unaccounted()}. The row of the account increases by all of it at once. Wait time and allocated
 * bytes are not counted. The time of a section that is never closed remains in {@link AccountReading#retired()}.
 *
 * <p>Thread-safe.
 */
public final class DeferredAccount {
    private final AccountType type;
    private final NamedAccount pending;
    private final AtomicLong cpuNanos = new AtomicLong();
    private final AtomicLong userNanos = new AtomicLong();
    private final AtomicLong uncounted = new AtomicLong();
    private final AtomicBoolean hasName = new AtomicBoolean();
    private volatile boolean isAssigned;
    private volatile String name;

    DeferredAccount(AccountType type) {
        this.type = type;
        this.pending = new NamedAccount(type, type.pending, this);
    }

    /**
     * Starts to count the calling thread's CPU time. On a virtual thread this works only if the agent tracks the
     * thread; otherwise the account reports the section as not counted.
     *
     * @return the section to close, on this thread, when the work is done; never null
     */
    public CpuSection enter() {
        if (isAssigned && name == null) return UncountedSection.INSTANCE;
        CpuSection section = pending.enter();
        if (section == UncountedSection.INSTANCE) {
            uncounted.getAndIncrement();
            if (isAssigned) settle(0);
        }
        return section;
    }

    /**
     * Adds the CPU time of the closed sections to an account, as one section. That of open ones and of later ones
     * follows when they are closed. Only the first call has an effect.
     *
     * @param id the name of the account, as for {@link AccountType#of}; null if the work belongs to none, so that its
     *     time is outside of sections
     */
    public void assign(String id) {
        if (!hasName.compareAndSet(false, true)) return;
        name = id;
        isAssigned = true;
        settle(1);
    }

    /** Called after a section has been closed. */
    void closed(long nanos, long user) {
        cpuNanos.getAndAdd(nanos);
        userNanos.getAndAdd(user);
        if (isAssigned) settle(0);
    }

    /** The account comes first, so that a reader may see the time twice for a moment, but never misses it. */
    private void settle(int sections) {
        long nanos = cpuNanos.getAndSet(0);
        long user = userNanos.getAndSet(0);
        NamedAccount account = name == null ? null : type.named(name);
        if (account != null) {
            account.add(new CpuTime(nanos, user, nanos - user), sections);
            account.add(AccountCounters.UNCOUNTED, uncounted.getAndSet(0));
        }
        pending.add(new CpuTime(-nanos, -user, user - nanos), 0);
        // The distribution has each piece of work once.
        if (account != null) type.closed(account, nanos, sections * type.details());
    }
}
