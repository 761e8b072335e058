// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.util.Map;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Rejects requests that do not come from this server's page or a client that knows the token. */
public final class AccessHandler extends Handler.Wrapper {
    public static final String COOKIE = "taskclock";
    public static final String LOGIN = "/api/login";
    public static final String OPENED = "/api/opened";
    public static final String HEALTHY = "/-/healthy";

    /** The path of the page's files. */
    public static final String ASSETS = "/web";

    /** The request attribute with the user who sent the request. */
    public static final String USER = "taskclock.user";

    private static final String BEARER = "Bearer ";

    /** Cannot be a user name, because it contains a colon, which separates the name from the password. */
    private static final String TOKEN_USER = ":token";

    private static final Map<String, String> SECURITY_HEADERS = Map.of(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
                    + " font-src 'self'; manifest-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none';"
                    + " form-action 'self'; frame-ancestors 'none'",
            "X-Content-Type-Options",
            "nosniff",
            "X-Frame-Options",
            "DENY",
            "Referrer-Policy",
            "no-referrer",
            "Cross-Origin-Opener-Policy",
            "same-origin",
            "Cross-Origin-Resource-Policy",
            "same-origin");

    private final Access access;

    public AccessHandler(Handler handler, Access access) {
        super(handler);
        this.access = access;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        SECURITY_HEADERS.forEach(response.getHeaders()::put);
        if (!isStatic(request)) response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        Call call = new Call(request, response, callback, null);
        if (request.getMethod().equals("POST")) access.audit().accept(request, response);
        if (!isFromHere(call)) return true;
        boolean hasPasswords = access.security().hasUsers();
        if (!isOpen(request, hasPasswords) && !isAuthorized(request, hasPasswords)) {
            response.getHeaders()
                    .put(
                            HttpHeader.WWW_AUTHENTICATE,
                            !hasPasswords ? "Bearer" : "Basic realm=\"taskclock\", charset=\"UTF-8\"");
            call.error(
                    401,
                    access.token() == null
                            ? "a password is needed: send the header Authorization: Basic ..."
                            : "a token is needed: send the header Authorization: Bearer TOKEN, or log in on the page");
            return true;
        }
        return super.handle(request, response, callback);
    }

    private boolean isFromHere(Call call) {
        Request request = call.request;
        String host = request.getHttpURI().getHost();
        if (!access.hosts().isAllowed(host)) {
            call.error(403, "the host name of the request is not allowed: start the server with --allowed-host NAME");
            return false;
        }
        String origin = request.getHeaders().get(HttpHeader.ORIGIN);
        String scheme = request.isSecure() ? "https" : "http";
        if (origin == null
                || access.hosts().isExternal(origin)
                || HostNames.isSameOrigin(origin, scheme, request.getHttpURI().getAuthority())) return true;
        call.error(403, "requests from pages of other sites are not allowed");
        return false;
    }

    private static boolean isStatic(Request request) {
        String path = Request.getPathInContext(request);
        return path.equals("/") || path.startsWith(ASSETS + "/");
    }

    /** Returns whether the path shows nothing about the host. */
    private boolean isOpen(Request request, boolean hasPasswords) {
        if (access.token() == null && !hasPasswords) return true;
        if (access.token() == null) return false;
        String path = Request.getPathInContext(request);
        return path.equals(HEALTHY) || path.equals(LOGIN) || isStatic(request);
    }

    private boolean isAuthorized(Request request, boolean hasPasswords) {
        String header = request.getHeaders().get(HttpHeader.AUTHORIZATION);
        String user = header == null || !hasPasswords ? null : access.security().verify(header);
        if (user == null && hasToken(request, header)) user = TOKEN_USER;
        request.setAttribute(USER, user);
        return user != null;
    }

    private boolean hasToken(Request request, String header) {
        Token token = access.token();
        if (token == null) return false;
        if (header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length()))
            return token.matches(header.substring(BEARER.length()).strip());
        for (HttpCookie cookie : Request.getCookies(request))
            if (cookie.getName().equals(COOKIE) && token.matchesCookie(cookie.getValue())) return true;
        return false;
    }
}
