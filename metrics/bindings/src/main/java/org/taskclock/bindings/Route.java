// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import org.taskclock.AccountType;

/**
 * The request on the calling thread, as long as {@link AccountFilter} knows only its servlet. A web framework that
 * routes the request names it. The scope of the filter ends what this adds to the context, on any path.
 */
final class Route implements AutoCloseable {
    /** Removed when the request leaves the thread, because a class of ours would keep our class loader alive. */
    private static final ThreadLocal<Route> CURRENT = new ThreadLocal<>();

    private final AccountType type;
    private final Route outer;

    private Route(AccountType type, Route outer) {
        this.type = type;
        this.outer = outer;
    }

    static Route open(AccountType type) {
        Route route = new Route(type, CURRENT.get());
        CURRENT.set(route);
        return route;
    }

    /** Counts the rest of the request for an endpoint, if this is the first name that a framework gives it. */
    static void name(String endpoint) {
        Route route = CURRENT.get();
        if (route == null) return;
        CURRENT.remove();
        AccountContext.enter(AccountContext.account(route.type, endpoint));
    }

    @Override
    public void close() {
        if (outer == null) CURRENT.remove();
        else CURRENT.set(outer);
    }
}
