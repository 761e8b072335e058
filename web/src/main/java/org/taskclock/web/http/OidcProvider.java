// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSKeySelector;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jwt.JWT;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.GeneralException;
import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.ClientAuthenticationMethod;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.claims.AuthorizedParty;
import com.nimbusds.openid.connect.sdk.claims.IDTokenClaimsSet;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The identity provider. Its configuration is read when the first user logs in, so that the server starts without it,
 * and its keys when a token is signed with a new one. Thread-safe.
 */
final class OidcProvider {
    private static final int TIMEOUT_MILLIS = 5_000;
    private static final int MAX_KEYS_BYTES = 1 << 20;

    /** While the provider is down, tokens are checked with the keys that are known. */
    private static final long KEYS_KEPT_MILLIS = TimeUnit.HOURS.toMillis(1);

    /** How long to wait before another attempt to read the configuration. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final Set<JWSAlgorithm> ALGORITHMS = algorithms();

    /**
     * What the configuration of the provider says.
     *
     * @param keys never those of a shared secret: whoever knows it could sign tokens
     */
    private record Configuration(
            OIDCProviderMetadata metadata, JWSKeySelector<SecurityContext> keys, ClientAuthentication client) {}

    private final OidcOptions options;
    private final Secret secret;
    private final Issuer issuer;
    private final ClientID clientId;

    // Guarded by this.
    private Configuration configuration;
    private ApiException failure;
    private long failedAt;

    /** @param secret null if the client has none */
    OidcProvider(OidcOptions options, String secret) {
        this.options = options;
        this.secret = secret == null ? null : new Secret(secret);
        issuer = new Issuer(options.issuer());
        clientId = new ClientID(options.clientId());
    }

    private static Set<JWSAlgorithm> algorithms() {
        Set<JWSAlgorithm> algorithms = new HashSet<>(JWSAlgorithm.Family.RSA);
        algorithms.addAll(List.of(JWSAlgorithm.ES256, JWSAlgorithm.ES384, JWSAlgorithm.ES512));
        return Set.copyOf(algorithms);
    }

    private synchronized Configuration configuration() throws ApiException {
        if (configuration != null) return configuration;
        if (failure != null && System.nanoTime() - failedAt < RETRY_NANOS) throw failure;
        try {
            configuration = read();
            return configuration;
        } catch (IOException | GeneralException e) {
            failure = unavailable(e.getMessage());
            failedAt = System.nanoTime();
            throw failure;
        }
    }

    private ApiException unavailable(String reason) {
        return new ApiException(503, "the identity provider " + issuer + " cannot be used: " + reason);
    }

    private Configuration read() throws IOException, GeneralException {
        HTTPResponse response = send(new HTTPRequest(HTTPRequest.Method.GET, OIDCProviderMetadata.resolveURL(issuer)));
        response.ensureStatusCode(HTTPResponse.SC_OK);
        OIDCProviderMetadata metadata = OIDCProviderMetadata.parse(response.getBody());
        if (!metadata.getIssuer().equals(issuer))
            throw new ParseException("its configuration is of another issuer, " + metadata.getIssuer());
        for (URI endpoint : new URI[] {
            metadata.getAuthorizationEndpointURI(), metadata.getTokenEndpointURI(), metadata.getJWKSetURI()
        })
            if (!OidcOptions.isProtected(endpoint))
                throw new ParseException("an endpoint does not use https: " + endpoint);
        Set<JWSAlgorithm> used = new HashSet<>(ALGORITHMS);
        if (metadata.getIDTokenJWSAlgs() != null) used.retainAll(metadata.getIDTokenJWSAlgs());
        if (used.isEmpty()) throw new ParseException("it signs ID tokens neither with RSA nor with EC keys");
        return new Configuration(
                metadata, new JWSVerificationKeySelector<>(used, keys(metadata.getJWKSetURI())), client(metadata));
    }

    private static JWKSource<SecurityContext> keys(URI address) throws MalformedURLException {
        return JWKSourceBuilder.<SecurityContext>create(
                        address.toURL(), new DefaultResourceRetriever(TIMEOUT_MILLIS, TIMEOUT_MILLIS, MAX_KEYS_BYTES))
                .outageTolerant(KEYS_KEPT_MILLIS)
                .build();
    }

    private ClientAuthentication client(OIDCProviderMetadata metadata) {
        if (secret == null) return null;
        List<ClientAuthenticationMethod> methods = metadata.getTokenEndpointAuthMethods();
        boolean usesBody = methods != null
                && !methods.contains(ClientAuthenticationMethod.CLIENT_SECRET_BASIC)
                && methods.contains(ClientAuthenticationMethod.CLIENT_SECRET_POST);
        return usesBody ? new ClientSecretPost(clientId, secret) : new ClientSecretBasic(clientId, secret);
    }

    private static HTTPResponse send(HTTPRequest request) throws IOException {
        request.setConnectTimeout(TIMEOUT_MILLIS);
        request.setReadTimeout(TIMEOUT_MILLIS);
        request.setFollowRedirects(false);
        return request.send();
    }

    /** Returns the address at which a user logs in. */
    URI authorization(PendingLogin login) throws ApiException {
        return new AuthenticationRequest.Builder(
                        new ResponseType(ResponseType.Value.CODE),
                        new Scope("openid", "profile", "email"),
                        clientId,
                        login.redirect())
                .endpointURI(configuration().metadata.getAuthorizationEndpointURI())
                .state(new State(login.state()))
                .nonce(new Nonce(login.nonce()))
                .codeChallenge(new CodeVerifier(login.verifier()), CodeChallengeMethod.S256)
                .build()
                .toURI();
    }

    /**
     * Returns the user who has logged in.
     *
     * @param sentIssuer the issuer in the response to the browser; null if it does not contain one
     */
    LoginUser user(PendingLogin login, String code, String sentIssuer) throws ApiException {
        Configuration known = configuration();
        if (sentIssuer != null && !sentIssuer.equals(issuer.getValue()))
            throw new ApiException(401, "the login was answered by another provider");
        JWT token = idToken(known, login, code);
        try {
            IDTokenValidator validator = new IDTokenValidator(issuer, clientId, known.keys, null);
            IDTokenClaimsSet claims = validator.validate(token, new Nonce(login.nonce()));
            AuthorizedParty party = claims.getAuthorizedParty();
            if (party != null && !party.getValue().equals(options.clientId()))
                throw new BadJWTException("it was issued to another client");
            return user(claims.toJSONObject());
        } catch (BadJOSEException e) {
            throw new ApiException(401, "the ID token of the provider is not valid: " + e.getMessage());
        } catch (JOSEException e) {
            throw unavailable("the ID token cannot be checked: " + e.getMessage());
        }
    }

    private JWT idToken(Configuration known, PendingLogin login, String code) throws ApiException {
        AuthorizationCodeGrant grant = new AuthorizationCodeGrant(
                new AuthorizationCode(code), login.redirect(), new CodeVerifier(login.verifier()));
        URI endpoint = known.metadata.getTokenEndpointURI();
        TokenRequest request = known.client == null
                ? new TokenRequest.Builder(endpoint, clientId, grant).build()
                : new TokenRequest.Builder(endpoint, known.client, grant).build();
        try {
            TokenResponse response = OIDCTokenResponseParser.parse(send(request.toHTTPRequest()));
            if (response instanceof OIDCTokenResponse tokens
                    && tokens.getOIDCTokens().getIDToken() != null)
                return tokens.getOIDCTokens().getIDToken();
            String reason = response.indicatesSuccess()
                    ? "no ID token"
                    : String.valueOf(response.toErrorResponse().getErrorObject().getCode());
            throw new ApiException(401, "the provider did not accept the login: " + reason);
        } catch (IOException | ParseException e) {
            throw unavailable(e.getMessage());
        }
    }

    /** Returns the user of an access token, such as that of a script; null if the token is not valid. */
    LoginUser verify(String accessToken) throws ApiException {
        DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
        processor.setJWSKeySelector(configuration().keys);
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(
                JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), new JOSEObjectType("application/at+jwt"), null));
        // A nonce is that of an ID token, which others may see: it must not pass for an access token.
        processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(
                Collections.singleton(options.audience()),
                new JWTClaimsSet.Builder().issuer(issuer.getValue()).build(),
                new HashSet<>(List.of("sub", "exp")),
                Collections.singleton("nonce")));
        try {
            return user(processor.process(accessToken, null).toJSONObject());
        } catch (java.text.ParseException | BadJOSEException e) {
            return null;
        } catch (JOSEException e) {
            throw unavailable("the access token cannot be checked: " + e.getMessage());
        }
    }

    private LoginUser user(Map<String, Object> claims) throws ApiException {
        String subject = String.valueOf(claims.get("sub"));
        Object preferred = claims.get("preferred_username");
        if (preferred == null) preferred = claims.get("email");
        // Users may choose the first two, so the audit log needs the subject.
        String name = AccessHandler.OIDC + (preferred instanceof String text ? text + " " : "") + subject;
        List<String> roles = roles(claims);
        if (options.readRole() != null && !roles.contains(options.readRole()) && !mayAct(roles))
            throw new ApiException(403, "the user " + name + " does not have the role " + options.readRole());
        return new LoginUser(name, mayAct(roles));
    }

    private boolean mayAct(List<String> roles) {
        return options.actRole() != null && roles.contains(options.actRole());
    }

    private List<String> roles(Map<String, Object> claims) {
        Object value = claims.get(options.roleClaim());
        if (value == null) {
            value = claims;
            for (String name : options.rolePath()) value = value instanceof Map<?, ?> map ? map.get(name) : null;
        }
        List<String> roles = new ArrayList<>();
        if (value instanceof Iterable<?> list) list.forEach(role -> roles.add(String.valueOf(role)));
        else if (value instanceof String text) roles.addAll(List.of(text.strip().split("[ ,]+")));
        return roles;
    }
}
