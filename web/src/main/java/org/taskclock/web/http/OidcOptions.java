// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The options of the login with OpenID Connect.
 *
 * @param issuer identifies the provider, and is the address of its configuration
 * @param secretFile the file with the secret of the client; null if it has none
 * @param roleClaim the claim with the roles of a user; dots separate the names of nested claims
 * @param readRole the role that a user needs to read; null if all users may
 * @param actRole the role that a user needs for actions; null if no user may perform any
 * @param audience the audience of access tokens of scripts
 */
public record OidcOptions(
        String issuer,
        String clientId,
        Path secretFile,
        String roleClaim,
        String readRole,
        String actRole,
        String audience) {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    /** Access tokens are by default for the client. */
    public OidcOptions {
        if (audience == null) audience = clientId;
    }

    /** Checks the issuer, because whoever can change its answers can log in as anyone. */
    void check() throws WebException {
        try {
            URI uri = new URI(issuer);
            if (isProtected(uri) && uri.getQuery() == null && uri.getFragment() == null && uri.getUserInfo() == null)
                return;
        } catch (URISyntaxException e) {
            // Reported below.
        }
        throw new WebException("--oidc-issuer " + issuer + ": must be a URL such as https://login.example.com/realm");
    }

    /** Returns whether nobody on the network can read or change what is sent to an address. */
    static boolean isProtected(URI uri) {
        if (uri == null || uri.getHost() == null) return false;
        return "https".equalsIgnoreCase(uri.getScheme())
                || ("http".equalsIgnoreCase(uri.getScheme()) && LOOPBACK.contains(uri.getHost()));
    }

    /** Returns the options of a public client whose users may all read. */
    public static OidcOptions of(String issuer, String clientId) {
        return new OidcOptions(issuer, clientId, null, "roles", null, null, null);
    }

    List<String> rolePath() {
        return List.of(roleClaim.split("\\.", -1));
    }
}
