// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.function.Function;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;

/**
 * Counts the CPU time of Jakarta Servlet requests for named accounts:
 *
 * <pre>{@code
 * servletContext.addFilter("tenants", AccountFilter.byHeader("X-Tenant"))
 *         .addMappingForUrlPatterns(EnumSet.of(REQUEST, ASYNC, ERROR), false, "/*");
 * }</pre>
 *
 * <p>Counted is what the container's thread does in the filters and the servlet after this filter. Each dispatch is a
 * section: the request itself, and, if the filter is mapped to them, each {@code AsyncContext.dispatch} and error page.
 * Forwards and includes are part of the dispatch that they come from. Reading the request line and headers, and what
 * the container writes after the dispatch, are not counted.
 *
 * <p>The account is in the {@link AccountContext} of the thread. So whatever carries contexts to other threads, such as
 * Reactor, coroutines, or {@link AccountContext#propagating}, counts there, too. Other work of asynchronous requests on
 * other threads is not counted. On virtual threads without the agent, all sections are reported as not counted.
 *
 * <p>Thread-safe.
 */
public final class AccountFilter implements Filter {
    private final AccountType type;
    private final Function<HttpServletRequest, String> name;
    private final boolean isRouted;

    /**
     * Creates a filter that takes the name of the account from the request.
     *
     * @param type the type of the accounts
     * @param name returns the name, on the request's thread, once for each dispatch; null or a blank name counts for
     *     {@value AccountContext#NO_NAME}; its exceptions fail the request
     */
    public AccountFilter(AccountType type, Function<HttpServletRequest, String> name) {
        this(type, name, false);
    }

    private AccountFilter(AccountType type, Function<HttpServletRequest, String> name, boolean isRouted) {
        if (type == null) throw new NullPointerException("type");
        if (name == null) throw new NullPointerException("name");
        this.type = type;
        this.name = name;
        this.isRouted = isRouted;
    }

    /**
     * Creates a filter for accounts of the type {@code tenant}. Clients can send any header, so let a proxy set it, or
     * use {@link #AccountFilter(AccountType, Function)} with the authenticated tenant.
     *
     * @param header the name of the header that names the tenant
     * @return the filter
     */
    public static AccountFilter byHeader(String header) {
        if (header == null) throw new NullPointerException("header");
        return new AccountFilter(CpuAccounts.type("tenant"), request -> request.getHeader(header));
    }

    /**
     * Creates a filter for accounts of the type {@code endpoint}, named by context path and mapping of the servlet,
     * such as {@code /shop/orders/*}. With {@link EndpointInterceptor} for Spring MVC or {@link JaxrsEndpoints}, the
     * rest of a request counts for its route, such as {@code /shop/orders/{id}}, as soon as it is known. Then the
     * account of the servlet has a section for each request, too, with what filters and routing used.
     *
     * @return the filter
     */
    public static AccountFilter byEndpoint() {
        return new AccountFilter(CpuAccounts.type("endpoint"), AccountFilter::mapping, true);
    }

    private static String mapping(HttpServletRequest request) {
        HttpServletMapping mapping = request.getHttpServletMapping();
        return mapping == null ? null : request.getContextPath() + mapping.getPattern();
    }

    @Override
    @SuppressWarnings("try") // the scopes only need to be open
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (!(request instanceof HttpServletRequest http) || isNested(http.getDispatcherType())) {
            chain.doFilter(request, response);
            return;
        }
        try (AccountScope scope = AccountContext.enter(AccountContext.account(type, name.apply(http)));
                Route route = isRouted ? Route.open(type) : null) {
            chain.doFilter(request, response);
        }
    }

    private static boolean isNested(DispatcherType dispatch) {
        return dispatch == DispatcherType.FORWARD || dispatch == DispatcherType.INCLUDE;
    }
}
