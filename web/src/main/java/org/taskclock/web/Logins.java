// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonElement;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.taskclock.web.http.Access;
import org.taskclock.web.http.AccessHandler;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.ExternalUrl;
import org.taskclock.web.http.HostNames;
import org.taskclock.web.http.ListenAddress;
import org.taskclock.web.http.Login;
import org.taskclock.web.http.Routes;
import org.taskclock.web.http.Token;
import org.taskclock.web.http.WebConfig;
import org.taskclock.web.http.WebException;
import org.taskclock.web.http.WebSecurity;
import org.taskclock.web.http.WebServer;

/** Who may use a server: how people and scripts log in, with the token or at an OpenID Connect provider. */
final class Logins {
    private final ServerOptions options;
    private final BiConsumer<Request, Response> audit;
    private final Consumer<String> log;

    /** Null if browsers reach this server directly. */
    private final ExternalUrl external;

    /** Null if none is needed. */
    private final Token token;

    /** Null if there is no provider. */
    private final Login provider;

    /** @param audit sees each request that may change something, and each attempt to log in */
    Logins(ServerOptions options, BiConsumer<Request, Response> audit, Consumer<String> log) throws WebException {
        this.options = options;
        this.audit = audit;
        this.log = log;
        external = options.externalUrl() == null ? null : ExternalUrl.parse(options.externalUrl());
        token = options.tokenFile() == null ? null : Token.read(options.tokenFile(), log);
        provider = options.oidc() == null ? null : new Login(options.oidc(), external, options.clock(), audit, log);
    }

    void addTo(Routes routes) {
        routes.add("GET", AccessHandler.LOGIN, call -> call.json(this::write));
        routes.add("POST", AccessHandler.LOGIN, this::login);
        Login.addRoutes(routes, provider);
    }

    /** Starts serving what those who may use it can request. */
    WebServer serve(Routes routes, long receiveMillis) throws WebException {
        ListenAddress address =
                ListenAddress.parse("--listen", options.exporter().listenAddress());
        WebSecurity security =
                new WebSecurity(options.exporter().webConfig(), config -> checkExposure(address, config), log);
        HostNames hosts = new HostNames(address.host(), options.allowedHosts(), external);
        Access access = new Access(security, token, provider, hosts, audit);
        return new WebServer(address, access, PageFiles.after(routes), receiveMillis);
    }

    private void checkExposure(ListenAddress address, WebConfig config) throws WebException {
        if (!address.isLoopback() && token == null && provider == null && !config.requiresClientCertificate())
            throw new WebException("--listen " + address.text() + ": is reachable from the network: add --token-file"
                    + " FILE or --oidc-issuer URL, or require client certificates with --web.config.file");
    }

    /** Writes how a client can log in. */
    private void write(JsonWriter json) throws IOException {
        json.beginObject();
        json.name("token").value(token != null);
        json.name("provider").value(provider == null ? null : provider.provider());
        json.endObject();
    }

    /** Gives a browser that knows the token a cookie. */
    private void login(Call call) throws ApiException, IOException {
        JsonElement sent = call.body().get("token");
        if (token == null) throw ApiException.badRequest("no token is needed");
        if (sent == null || !sent.isJsonPrimitive() || !token.matches(sent.getAsString()))
            throw new ApiException(401, "wrong token");
        boolean isExternal =
                external != null && external.isOrigin(call.request.getHeaders().get(HttpHeader.ORIGIN));
        HttpCookie cookie = HttpCookie.build(AccessHandler.COOKIE, token.cookie())
                .path(isExternal ? external.prefix() + "/" : "/")
                .httpOnly(true)
                .secure(isExternal ? external.isSecure() : call.request.isSecure())
                .sameSite(HttpCookie.SameSite.STRICT)
                .build();
        Response.addCookie(call.response, cookie);
        call.json(json -> json.beginObject().endObject());
    }

    /**
     * Returns the address of the page for people.
     *
     * @param url the address of the server, which may listen on all addresses
     * @param host the name of this host
     */
    String page(String url, String host) {
        return external == null
                ? url.replaceFirst("//(0\\.0\\.0\\.0|\\[::]):", "//" + host + ":")
                : external.origin() + external.prefix() + "/";
    }
}
