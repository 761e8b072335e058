// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.util.function.BiConsumer;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/**
 * Who may send requests.
 *
 * @param security TLS and passwords
 * @param token null if none is needed
 * @param login at an identity provider; null if there is none
 * @param hosts the names of this host
 * @param audit sees each request that may change something, and its response
 */
public record Access(
        WebSecurity security, Token token, Login login, HostNames hosts, BiConsumer<Request, Response> audit) {
    /** Without an identity provider. */
    public Access(WebSecurity security, Token token, HostNames hosts, BiConsumer<Request, Response> audit) {
        this(security, token, null, hosts, audit);
    }

    /** Anyone who has a password or a certificate, if the web configuration file demands one. */
    public static Access of(WebSecurity security) {
        return new Access(security, null, HostNames.ANY, (request, response) -> {});
    }
}
