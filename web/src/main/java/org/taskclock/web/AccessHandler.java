// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.util.Map;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.taskclock.web.metrics.WebSecurity;

/** Rejects requests that do not come from this server's page or a client that knows the token. */
final class AccessHandler extends Handler.Wrapper {
    static final String COOKIE = "taskclock";
    static final String LOGIN = "/api/login";
    static final String OPENED = "/api/opened";
    static final String HEALTHY = "/-/healthy";
    private static final String BEARER = "Bearer ";

    /** Cannot be a user name, because it contains a colon, which separates the name from the password. */
    private static final String TOKEN_USER = ":token";

    /** Browsers send this header only with requests from a page of the same site. */
    private static final String OWN_HEADER = "X-TaskClock";

    private static final Map<String, String> SECURITY_HEADERS = Map.of(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
                    + " font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self';"
                    + " frame-ancestors 'none'",
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

    private final HostNames hosts;

    /** Null if no token is needed. */
    private final Token token;

    private final WebSecurity security;
    private final AuditLog audit;

    AccessHandler(Handler handler, HostNames hosts, Token token, WebSecurity security, AuditLog audit) {
        super(handler);
        this.hosts = hosts;
        this.token = token;
        this.security = security;
        this.audit = audit;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        SECURITY_HEADERS.forEach(response.getHeaders()::put);
        if (!isStatic(request)) response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        Call call = new Call(request, response, callback, null);
        String method = request.getMethod();
        if (method.equals("POST")) audit.watch(request, response);
        if (!isFromHere(call)) return true;
        if (!method.equals("POST") && !method.equals("GET") && !method.equals("HEAD")) {
            response.getHeaders().put(HttpHeader.ALLOW, "GET, HEAD, POST");
            call.error(405, "the method " + method + " is not supported");
            return true;
        }
        boolean hasPasswords = security.hasUsers();
        if (!isOpen(request, hasPasswords) && !isAuthorized(request, hasPasswords)) {
            response.getHeaders()
                    .put(
                            HttpHeader.WWW_AUTHENTICATE,
                            !hasPasswords ? "Bearer" : "Basic realm=\"taskclock\", charset=\"UTF-8\"");
            call.error(
                    401,
                    token == null
                            ? "a password is needed: send the header Authorization: Basic ..."
                            : "a token is needed: send the header Authorization: Bearer TOKEN, or log in on the page");
            return true;
        }
        if (method.equals("POST") && !isIntended(call)) return true;
        return super.handle(request, response, callback);
    }

    private boolean isFromHere(Call call) {
        Request request = call.request;
        String host = request.getHttpURI().getHost();
        if (!hosts.isAllowed(host)) {
            call.error(403, "the host name of the request is not allowed: start the server with --allowed-host NAME");
            return false;
        }
        String origin = request.getHeaders().get(HttpHeader.ORIGIN);
        String scheme = request.isSecure() ? "https" : "http";
        if (origin == null
                || hosts.isExternal(origin)
                || HostNames.isSameOrigin(origin, scheme, request.getHttpURI().getAuthority())) return true;
        call.error(403, "requests from pages of other sites are not allowed");
        return false;
    }

    /** Returns whether the request cannot come from a form or a simple request of another site. */
    private static boolean isIntended(Call call) {
        HttpFields headers = call.request.getHeaders();
        if (!"1".equals(headers.get(OWN_HEADER))) {
            call.error(403, "the header " + OWN_HEADER + ": 1 is missing");
            return false;
        }
        boolean isUpload = Request.getPathInContext(call.request).equals(OPENED);
        String type = headers.get(HttpHeader.CONTENT_TYPE);
        String expected = isUpload ? "application/octet-stream" : Call.JSON;
        if (type != null && type.split(";", 2)[0].strip().equalsIgnoreCase(expected)) return true;
        call.error(415, "the content type must be " + expected);
        return false;
    }

    private static boolean isStatic(Request request) {
        String path = Request.getPathInContext(request);
        return path.equals("/") || path.startsWith(WebServer.ASSETS + "/");
    }

    /** Returns whether the path shows nothing about the host. */
    private boolean isOpen(Request request, boolean hasPasswords) {
        if (token == null && !hasPasswords) return true;
        if (token == null) return false;
        String path = Request.getPathInContext(request);
        return path.equals(HEALTHY) || path.equals(LOGIN) || isStatic(request);
    }

    private boolean isAuthorized(Request request, boolean hasPasswords) {
        String header = request.getHeaders().get(HttpHeader.AUTHORIZATION);
        String user = header == null || !hasPasswords ? null : security.verify(header);
        if (user == null && hasToken(request, header)) user = TOKEN_USER;
        request.setAttribute(AuditLog.USER, user);
        return user != null;
    }

    private boolean hasToken(Request request, String header) {
        if (token == null) return false;
        if (header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length()))
            return token.matches(header.substring(BEARER.length()).strip());
        for (HttpCookie cookie : Request.getCookies(request))
            if (cookie.getName().equals(COOKIE) && token.matchesCookie(cookie.getValue())) return true;
        return false;
    }
}
