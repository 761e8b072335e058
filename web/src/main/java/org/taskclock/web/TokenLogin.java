// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonElement;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.taskclock.web.http.AccessHandler;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.ExternalUrl;
import org.taskclock.web.http.Login;
import org.taskclock.web.http.Routes;
import org.taskclock.web.http.Token;

/**
 * Tells how to log in, and logs in with the token.
 *
 * @param token null if there is none
 * @param external null if browsers reach this server directly
 * @param login null if there is no identity provider
 */
record TokenLogin(Token token, ExternalUrl external, Login login) {
    void addRoutes(Routes routes) {
        routes.add("GET", AccessHandler.LOGIN, call -> call.json(this::writeLogins));
        routes.add("POST", AccessHandler.LOGIN, this::login);
    }

    /** Writes how a client can log in. */
    private void writeLogins(JsonWriter json) throws IOException {
        json.beginObject();
        json.name("token").value(token != null);
        json.name("provider").value(login == null ? null : login.provider());
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
}
