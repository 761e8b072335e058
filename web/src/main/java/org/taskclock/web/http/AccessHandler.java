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

    /** Precedes the names of users of an identity provider. */
    static final String OIDC = "oidc:";

    /** The request attribute of users who may only read. */
    private static final String READ_ONLY = "taskclock.readOnly";

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
        boolean isAuthorized;
        try {
            isAuthorized = isOpen(request, hasPasswords) || isAuthorized(request, hasPasswords);
        } catch (ApiException e) {
            call.error(e.status, e.getMessage());
            return true;
        }
        if (!isAuthorized) {
            response.getHeaders()
                    .put(
                            HttpHeader.WWW_AUTHENTICATE,
                            !hasPasswords || access.login() != null
                                    ? "Bearer"
                                    : "Basic realm=\"taskclock\", charset=\"UTF-8\"");
            call.error(
                    401,
                    access.login() != null
                            ? "log in on the page, or send the header Authorization: Bearer TOKEN"
                            : access.token() == null
                                    ? "a password is needed: send the header Authorization: Basic ..."
                                    : "a token is needed: send the header Authorization: Bearer TOKEN, or log in on the page");
            return true;
        }
        if (request.getMethod().equals("POST") && !mayAct(request) && !isForReaders(request)) {
            call.error(403, "you may only read: actions need the role that --oidc-act-role names");
            return true;
        }
        return super.handle(request, response, callback);
    }

    /** Returns whether the user who sent the request may perform actions, if the server allows them. */
    public static boolean mayAct(Request request) {
        return request.getAttribute(READ_ONLY) == null;
    }

    /** Returns the user of the identity provider who sent the request; null if it was not sent by one. */
    public static String loggedIn(Request request) {
        return request.getAttribute(USER) instanceof String user && user.startsWith(OIDC) ? user : null;
    }

    private static boolean isForReaders(Request request) {
        String path = Request.getPathInContext(request);
        return path.equals(OPENED) || path.equals(LOGIN) || path.equals(Login.LOGOUT);
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
        if (access.token() == null && access.login() == null) return !hasPasswords;
        String path = Request.getPathInContext(request);
        return path.equals(HEALTHY)
                || path.equals(LOGIN)
                || (access.login() != null && Login.isOpen(path))
                || isStatic(request);
    }

    private boolean isAuthorized(Request request, boolean hasPasswords) throws ApiException {
        String header = request.getHeaders().get(HttpHeader.AUTHORIZATION);
        String user = header == null || !hasPasswords ? null : access.security().verify(header);
        String bearer = bearer(header);
        if (user == null && hasToken(request, bearer)) user = TOKEN_USER;
        if (user == null && access.login() != null) {
            LoginUser found = access.login().user(request, bearer);
            if (found != null) user = found.name();
            if (found != null && !found.mayAct()) request.setAttribute(READ_ONLY, true);
        }
        request.setAttribute(USER, user);
        return user != null;
    }

    private static String bearer(String header) {
        return header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? header.substring(BEARER.length()).strip()
                : null;
    }

    private boolean hasToken(Request request, String bearer) {
        Token token = access.token();
        if (token == null) return false;
        if (bearer != null) return token.matches(bearer);
        for (HttpCookie cookie : Request.getCookies(request))
            if (cookie.getName().equals(COOKIE) && token.matchesCookie(cookie.getValue())) return true;
        return false;
    }
}
