// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.nio.file.Path;
import org.taskclock.web.http.OidcOptions;
import picocli.CommandLine.Option;

/** The options of the login at an identity provider. */
final class LoginOptions {
    @Option(
            names = "--oidc-issuer",
            paramLabel = "URL",
            description = "Let users log in at this OpenID Connect provider, such as https://login.example.com/realm."
                    + " Register the address of the page plus api/login/callback there.")
    private String issuer;

    @Option(names = "--oidc-client-id", paramLabel = "ID", description = "Id of this server at the provider.")
    private String clientId;

    @Option(
            names = "--oidc-client-secret-file",
            paramLabel = "FILE",
            description = "File with the secret that belongs to the id (default: none, a public client).")
    private Path secretFile;

    @Option(
            names = "--oidc-role-claim",
            paramLabel = "NAME",
            defaultValue = "roles",
            description = "Claim of the ID token with the roles of the user (default: ${DEFAULT-VALUE}). Dots separate"
                    + " nested names, as in realm_access.roles.")
    private String roleClaim;

    @Option(
            names = "--oidc-read-role",
            paramLabel = "ROLE",
            description = "Role that users need to see the page (default: none, everyone who can log in).")
    private String readRole;

    @Option(
            names = "--oidc-act-role",
            paramLabel = "ROLE",
            description = "Role that users need for actions, besides --allow-actions (default: no user may act).")
    private String actRole;

    @Option(
            names = "--oidc-audience",
            paramLabel = "NAME",
            description = "Audience of access tokens that scripts may send (default: the id of --oidc-client-id).")
    private String audience;

    /** Returns the options; null if there is no provider. */
    OidcOptions options() throws CommandException {
        boolean hasOthers = clientId != null
                || secretFile != null
                || readRole != null
                || actRole != null
                || audience != null
                || !roleClaim.equals("roles");
        if (issuer == null && hasOthers)
            throw new CommandException(Main.USAGE, "--oidc-issuer is missing: the other options need it");
        if (issuer == null) return null;
        if (clientId == null || clientId.isBlank())
            throw new CommandException(Main.USAGE, "--oidc-issuer " + issuer + ": add --oidc-client-id ID");
        return new OidcOptions(issuer, clientId, secretFile, roleClaim, readRole, actRole, audience);
    }
}
