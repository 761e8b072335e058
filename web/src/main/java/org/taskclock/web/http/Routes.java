// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Dispatches requests to the code that answers them. */
public final class Routes extends Handler.Abstract {
    /** Browsers send this header only with requests from a page of the same site. */
    private static final String OWN_HEADER = "X-TaskClock";

    private static final Pattern PARAMETER = Pattern.compile("\\{([a-z]+)\\}");

    /** Answers a request, now or later. */
    public interface Endpoint {
        void answer(Call call) throws ApiException, IOException;
    }

    private record Route(String method, String template, Pattern path, Endpoint endpoint) {}

    private final List<Route> routes = new ArrayList<>();
    private final Consumer<String> log;

    public Routes(Consumer<String> log) {
        this.log = log;
    }

    /** Adds a path, in which {name} stands for letters, digits, and the characters "._-". */
    public void add(String method, String template, Endpoint endpoint) {
        String path = PARAMETER.matcher(template.replace(".", "[.]")).replaceAll("(?<$1>[A-Za-z0-9._-]{1,200})");
        routes.add(new Route(method, template, Pattern.compile(path), endpoint));
    }

    /** Returns all routes as "GET /path/{parameter}". */
    public List<String> templates() {
        return routes.stream().map(route -> route.method + " " + route.template).toList();
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String path = Request.getPathInContext(request);
        String method = request.getMethod().equals("HEAD") ? "GET" : request.getMethod();
        Set<String> allowed = new TreeSet<>();
        for (Route route : routes) {
            Matcher matcher = route.path.matcher(path);
            if (!matcher.matches()) continue;
            if (!route.method.equals(method)) {
                allowed.add(route.method.equals("GET") ? "GET, HEAD" : route.method);
                continue;
            }
            Call call = new Call(request, response, callback, matcher);
            boolean isPost = method.equals("POST");
            if (isPost && !isIntended(call)) return true;
            if (isPost && !route.template.equals(AccessHandler.OPENED)) answerWithBody(route, call, matcher);
            else answer(route, call);
            return true;
        }
        Call call = new Call(request, response, callback, null);
        if (!allowed.isEmpty()) {
            response.getHeaders().put(HttpHeader.ALLOW, String.join(", ", allowed));
            call.error(405, "this path does not support the method " + request.getMethod());
            return true;
        }
        if (!path.startsWith("/api/")) return false;
        call.error(404, "no such path: see /api/ for the description of the API");
        return true;
    }

    /** Returns whether the request cannot come from a form or a simple request of another site. */
    private static boolean isIntended(Call call) {
        HttpFields headers = call.request.getHeaders();
        if (!"1".equals(headers.get(OWN_HEADER))) {
            call.error(403, "the header " + OWN_HEADER + ": 1 is missing");
            return false;
        }
        boolean isUpload = Request.getPathInContext(call.request).equals(AccessHandler.OPENED);
        String type = headers.get(HttpHeader.CONTENT_TYPE);
        String expected = isUpload ? "application/octet-stream" : Call.JSON;
        if (type != null && type.split(";", 2)[0].strip().equalsIgnoreCase(expected)) return true;
        call.error(415, "the content type must be " + expected);
        return false;
    }

    /** Answers after the body has arrived. */
    private void answerWithBody(Route route, Call received, Matcher matcher) {
        RequestBody.receive(received.request, (body, failure) -> {
            Call call = new Call(received.request, received.response, received.callback, matcher, body);
            if (failure == null) answer(route, call);
            else fail(call, failure.status, failure.getMessage());
        });
    }

    private void answer(Route route, Call call) {
        try {
            route.endpoint.answer(call);
        } catch (ApiException e) {
            fail(call, e.status, e.getMessage());
        } catch (IOException e) {
            fail(call, 503, String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            if (e instanceof HttpException malformed) {
                fail(call, malformed.getCode(), malformed.getReason());
                return;
            }
            log.accept(route.template + ": " + InternalErrors.describe(e));
            fail(call, 500, "internal error: see the server's standard error");
        }
    }

    private static void fail(Call call, int status, String message) {
        // Part of a download may already have been sent.
        if (call.response.isCommitted()) call.callback.failed(new IOException(message));
        else call.error(status, message);
    }
}
