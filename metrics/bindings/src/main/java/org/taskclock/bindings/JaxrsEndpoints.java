// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import jakarta.ws.rs.Path;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.DynamicFeature;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.FeatureContext;
import jakarta.ws.rs.ext.Provider;
import java.lang.reflect.Method;
import java.util.function.Function;

/**
 * Names the accounts of {@link AccountFilter#byEndpoint()} by the {@code @Path} templates of JAX-RS (Jakarta REST)
 * resources, preceded by the base path, such as {@code /api/orders/{id}}. Register this class in the application, and
 * the filter in its servlet container. Without the filter, it has no effect.
 *
 * <p>From the matching of a request on, the thread's dispatch counts for the template: filters, the resource, and, for
 * synchronous resources, the response.
 *
 * <p><b>Limits.</b> JAX-RS has no hook around a resource method on its thread: response filters run on whatever thread
 * resumes the response. So only the servlet filter can end a section, and servers without servlets are not supported.
 * What other threads do for asynchronous resources, including their responses, counts only where the
 * {@link AccountContext} is carried. The template of a sub-resource lacks that of its locator.
 */
@Provider
public final class JaxrsEndpoints implements DynamicFeature {
    /** Before other request filters. */
    private static final int PRIORITY = 0;

    /** Creates the feature. */
    public JaxrsEndpoints() {}

    @Override
    public void configure(ResourceInfo resource, FeatureContext context) {
        String template = template(resource.getResourceClass(), resource.getResourceMethod());
        ContainerRequestFilter filter =
                request -> Route.name(join(request.getUriInfo().getBaseUri().getPath(), template));
        context.register(filter, PRIORITY);
    }

    private static String template(Class<?> resource, Method method) {
        String path = path(resource, each -> each.getAnnotation(Path.class));
        return join(path, path(resource, each -> methodPath(each, method)));
    }

    private static Path methodPath(Class<?> type, Method method) {
        try {
            return type.getDeclaredMethod(method.getName(), method.getParameterTypes())
                    .getAnnotation(Path.class);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    /** Returns the first path of a class and those that it inherits from; empty if there is none. */
    private static String path(Class<?> type, Function<Class<?>, Path> annotation) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            Path path = annotation.apply(each);
            if (path != null) return path.value();
            for (Class<?> declared : each.getInterfaces()) {
                String inherited = path(declared, annotation);
                if (!inherited.isEmpty()) return inherited;
            }
        }
        return "";
    }

    private static String join(String base, String path) {
        String start = base.endsWith("/") ? base : base + "/";
        return start + (path.startsWith("/") ? path.substring(1) : path);
    }
}
