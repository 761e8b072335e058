// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Names the accounts of {@link AccountFilter#byEndpoint()} by Spring MVC's best matching pattern, preceded by the
 * context path. Register it first, for all handlers:
 *
 * <pre>{@code
 * @Bean
 * MappedInterceptor endpoints() {
 *     return new MappedInterceptor(null, new EndpointInterceptor());
 * }
 * }</pre>
 *
 * <p>From then on, the dispatch counts for the pattern: other interceptors, the handler, views, and the filters on the
 * way back. Without the filter, the interceptor has no effect.
 *
 * <p>Thread-safe.
 */
public final class EndpointInterceptor implements HandlerInterceptor {
    /** Creates the interceptor. */
    public EndpointInterceptor() {}

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        if (pattern != null) Route.name(request.getContextPath() + pattern);
        return true;
    }
}
