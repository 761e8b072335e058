// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

/**
 * The names of servlet requests: the path of the web application and the pattern that the request matched. Patterns are
 * part of the program, so there are not many. Paths come from clients.
 */
final class ServletNames {
    /** Spring MVC sets this attribute of a request before it calls the handler. */
    private static final String SPRING_PATTERN = "org.springframework.web.servlet.HandlerMapping.bestMatchingPattern";

    private final ProgramMethod mapping;
    private final ProgramMethod pattern;
    private final ProgramMethod context;
    private final ProgramMethod contextPath;
    private final ProgramMethod attribute;
    private final ProgramMethod servletName;

    /**
     * Creates the names for an API.
     *
     * @param api its package
     */
    ServletNames(String api) {
        mapping = new ProgramMethod(api + ".http.HttpServletRequest", "getHttpServletMapping");
        pattern = new ProgramMethod(api + ".http.HttpServletMapping", "getPattern");
        context = new ProgramMethod(api + ".ServletRequest", "getServletContext");
        contextPath = new ProgramMethod(api + ".ServletContext", "getContextPath");
        attribute = new ProgramMethod(api + ".ServletRequest", "getAttribute", String.class);
        servletName = new ProgramMethod(api + ".ServletConfig", "getServletName");
    }

    /**
     * Returns the name by the servlet's pattern. Before Servlet 4, requests do not tell it: it is the servlet's name.
     */
    String ofServlet(Object servlet, Object request) throws ReflectiveOperationException {
        String found = pattern(request);
        return found == null ? (String) servletName.call(servlet) : contextPath(request) + found;
    }

    /** Returns the name by the handler's pattern; null if there is none, so that the servlet's name applies. */
    String ofHandler(Object adapter, Object request) throws ReflectiveOperationException {
        Object found = attribute.call(request, SPRING_PATTERN);
        if (found == null) return null;
        String servlet = pattern(request);
        // Spring's patterns are relative to that of the servlet.
        boolean isPrefix = servlet != null && servlet.endsWith("/*");
        String prefix = isPrefix ? servlet.substring(0, servlet.length() - "/*".length()) : "";
        return contextPath(request) + prefix + found;
    }

    private String pattern(Object request) throws ReflectiveOperationException {
        return (String) pattern.call(mapping.call(request));
    }

    /** Returns the path of the web application as it was deployed. That of the request is as the client sent it. */
    private String contextPath(Object request) throws ReflectiveOperationException {
        String path = (String) contextPath.call(context.call(request));
        return path == null ? "" : path;
    }
}
