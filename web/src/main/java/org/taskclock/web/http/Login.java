// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/**
 * Login at an identity provider by OpenID Connect, with an authorization code and PKCE, and bearer access tokens of the
 * same provider. Thread-safe.
 */
public final class Login {
    public static final String START = "/api/login/start";
    public static final String CALLBACK = "/api/login/callback";
    public static final String LOGOUT = "/api/logout";

    private static final String SECRET_FILE = "--oidc-client-secret-file";
    private static final String SESSION_COOKIE = "taskclock-session";

    /** Ties the response of the provider to the browser that began the login. */
    private static final String BROWSER_COOKIE = "taskclock-login";

    /** Each waits for the provider on a thread. */
    private static final int MAX_CONCURRENT = 4;

    /** Most need no answer of the provider. Half of the threads of the server. */
    private static final int MAX_VERIFICATIONS = 16;

    /** Only a fragment of the page's own address, so that a login cannot lead to another site. */
    private static final Pattern VIEW = Pattern.compile("#/[A-Za-z0-9/?&=.,:;_~%+!*'()-]{0,1000}");

    private final OidcOptions options;
    private final OidcProvider provider;
    private final LoginSessions sessions;

    /** Null if browsers reach this server directly. */
    private final ExternalUrl external;

    private final Clock clock;
    private final BiConsumer<Request, Response> audit;
    private final Consumer<String> log;
    private final Semaphore exchanges = new Semaphore(MAX_CONCURRENT);
    private final Semaphore verifications = new Semaphore(MAX_VERIFICATIONS);

    /** Why the provider could not be used last; empty if it could. */
    private volatile String problem = "";

    /**
     * @param audit sees each attempt to log in
     * @param log receives a line when the provider cannot be used
     */
    public Login(
            OidcOptions options,
            ExternalUrl external,
            Clock clock,
            BiConsumer<Request, Response> audit,
            Consumer<String> log)
            throws WebException {
        options.check();
        this.options = options;
        this.external = external;
        this.clock = clock;
        this.audit = audit;
        this.log = log;
        provider = new OidcProvider(options, secret(options.secretFile(), log));
        sessions = new LoginSessions(clock);
    }

    private static String secret(Path file, Consumer<String> log) throws WebException {
        if (file == null) return null;
        String secret = SecretFile.read(SECRET_FILE, file, "write the client's secret to it");
        if (secret.isEmpty()) throw new WebException(SECRET_FILE + " " + file + ": is empty");
        SecretFile.warn(SECRET_FILE, file, log);
        return secret;
    }

    /** Adds the requests of a login, which may be null. */
    public static void addRoutes(Routes routes, Login login) {
        routes.add("GET", START, call -> required(login).start(call));
        routes.add("GET", CALLBACK, call -> required(login).finish(call));
        routes.add("POST", LOGOUT, call -> required(login).logout(call));
    }

    private static Login required(Login login) throws ApiException {
        if (login == null) throw ApiException.notFound("no identity provider: start the server with --oidc-issuer");
        return login;
    }

    /** Returns the host of the provider. */
    public String provider() {
        return URI.create(options.issuer()).getHost();
    }

    /** Returns whether a path must be open to those who are not logged in yet. */
    static boolean isOpen(String path) {
        return path.equals(START) || path.equals(CALLBACK) || path.equals(LOGOUT);
    }

    /** Returns the user of a request; null if nobody is logged in. */
    LoginUser user(Request request, String bearer) throws ApiException {
        for (String id : cookies(request, SESSION_COOKIE)) {
            LoginSession session = sessions.find(id);
            if (session == null) continue;
            session.add(request, clock);
            return session.user;
        }
        // A JWT has three parts. Other tokens must not cause a question to the provider.
        return bearer == null || bearer.chars().filter(c -> c == '.').count() != 2 ? null : verify(bearer);
    }

    private LoginUser verify(String token) throws ApiException {
        try {
            return limited(verifications, () -> provider.verify(token));
        } catch (ApiException e) {
            throw logged(e);
        }
    }

    /** Logs that the provider cannot be used, once until it can be. */
    private ApiException logged(ApiException e) {
        if (e.status == 503 && !problem.equals(e.getMessage())) log.accept("login: " + e.getMessage());
        problem = e.status == 503 ? e.getMessage() : "";
        return e;
    }

    private void start(Call call) throws ApiException {
        String view = Request.extractQueryParameters(call.request).getValue("view");
        PendingLogin login = new PendingLogin(
                URI.create(base(call.request) + CALLBACK),
                view != null && VIEW.matcher(view).matches() ? view : "#/",
                clock.instant().plus(LoginSessions.MAX_PENDING_TIME));
        URI target;
        try {
            target = limited(exchanges, () -> provider.authorization(login));
        } catch (ApiException e) {
            fail(call, logged(e));
            return;
        }
        sessions.begin(login);
        addCookie(call, BROWSER_COOKIE, login.browser(), LoginSessions.MAX_PENDING_TIME);
        redirect(call, target.toString());
    }

    private void finish(Call call) throws ApiException {
        audit.accept(call.request, call.response);
        PendingLogin login;
        LoginUser user;
        try {
            login = pending(call);
            String error = call.parameter("error");
            if (error != null) throw new ApiException(401, "the provider did not log you in: " + error);
            String code = Request.extractQueryParameters(call.request).getValue("code");
            if (code == null || code.isEmpty()) throw new ApiException(401, "the provider sent no code");
            String issuer = call.parameter("iss");
            user = limited(exchanges, () -> provider.user(login, code, issuer));
            problem = "";
        } catch (ApiException e) {
            fail(call, logged(e));
            return;
        }
        call.request.setAttribute(AccessHandler.USER, user.name());
        // A browser that logs in again gets another session.
        for (String id : cookies(call.request, SESSION_COOKIE)) sessions.end(id, call.request);
        addCookie(call, BROWSER_COOKIE, "", Duration.ZERO);
        addCookie(call, SESSION_COOKIE, sessions.start(user), LoginSessions.LENGTH);
        redirect(call, base(call.request) + "/" + login.view());
    }

    /** Returns the login that a response belongs to, which ends with it. */
    private PendingLogin pending(Call call) throws ApiException {
        String state = call.parameter("state");
        PendingLogin login = state == null ? null : sessions.take(state);
        if (login != null && cookies(call.request, BROWSER_COOKIE).contains(login.browser())) return login;
        throw new ApiException(401, "this login was not begun in this browser, has ended, or took too long");
    }

    private void logout(Call call) {
        for (String id : cookies(call.request, SESSION_COOKIE)) sessions.end(id, call.request);
        addCookie(call, SESSION_COOKIE, "", Duration.ZERO);
        call.json(json -> json.beginObject().endObject());
    }

    private interface Exchange<T> {
        T run() throws ApiException;
    }

    /** Asks the provider, unless too many do. */
    private static <T> T limited(Semaphore permits, Exchange<T> exchange) throws ApiException {
        if (!permits.tryAcquire()) throw new ApiException(503, "too many logins at once: try again in a few seconds");
        try {
            return exchange.run();
        } finally {
            permits.release();
        }
    }

    /** A browser shows this as it is, because it does not come from the page. */
    private void fail(Call call, ApiException e) {
        call.request.setAttribute(Call.REASON, e.getMessage());
        call.text(
                e.status,
                "TaskClock: login failed: " + e.getMessage() + ".\nOpen " + base(call.request) + "/ to try again.\n");
    }

    /** Returns the address of the page, without a slash at the end. The Host header of the request was checked. */
    private String base(Request request) {
        if (external != null) return external.origin() + external.prefix();
        return (request.isSecure() ? "https" : "http") + "://"
                + request.getHttpURI().getAuthority();
    }

    private static void redirect(Call call, String target) {
        call.response.getHeaders().put(HttpHeader.LOCATION, target);
        call.text(302, "");
    }

    private void addCookie(Call call, String name, String value, Duration age) {
        HttpCookie cookie = HttpCookie.build(name, value)
                .path((external == null ? "" : external.prefix()) + "/")
                .maxAge(age.toSeconds())
                .httpOnly(true)
                .secure(external == null ? call.request.isSecure() : external.isSecure())
                .sameSite(HttpCookie.SameSite.LAX) // the provider leads the browser back here
                .build();
        Response.addCookie(call.response, cookie);
    }

    private static List<String> cookies(Request request, String name) {
        List<String> values = new ArrayList<>();
        for (HttpCookie cookie : Request.getCookies(request))
            if (cookie.getName().equals(name)) values.add(cookie.getValue());
        return values;
    }
}
