// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/** An identity provider on loopback that can be told to send a false ID token. */
final class ForgingProvider implements AutoCloseable {
    /** How a token is signed. */
    enum Signature {
        RIGHT,
        NONE,
        UNKNOWN_KEY,
        /** With the public key as if it were a secret. */
        HMAC
    }

    static final String CLIENT = "taskclock-page";

    final int port;
    private final HttpServer server;
    private RSAKey key;
    volatile Signature signature = Signature.RIGHT;
    volatile Consumer<JWTClaimsSet.Builder> forgery = claims -> {};

    /** Added to the response of the login. */
    volatile String parameters = "";

    volatile String sentNonce;
    volatile Map<String, String> authorization = Map.of();
    volatile Map<String, String> exchange = Map.of();

    ForgingProvider(int port) throws IOException, JOSEException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        this.port = server.getAddress().getPort();
        rotate();
        server.createContext("/.well-known/openid-configuration", exchange -> send(exchange, configuration()));
        server.createContext("/keys", exchange -> send(exchange, new JWKSet(key.toPublicJWK()).toString()));
        server.createContext("/authorize", this::authorize);
        server.createContext("/token", this::token);
        server.start();
    }

    String issuer() {
        return "http://127.0.0.1:" + port;
    }

    void rotate() throws JOSEException {
        key = new RSAKeyGenerator(2_048).keyID(UUID.randomUUID().toString()).generate();
    }

    private String configuration() {
        return """
                {"issuer":"@","authorization_endpoint":"@/authorize","token_endpoint":"@/token","jwks_uri":"@/keys",
                "response_types_supported":["code"],"subject_types_supported":["public"],
                "id_token_signing_alg_values_supported":["RS256","HS256","none"]}
                """.replace("@", issuer());
    }

    private void authorize(HttpExchange exchange) throws IOException {
        authorization = parameters(exchange.getRequestURI().getRawQuery());
        sentNonce = authorization.get("nonce");
        exchange.getResponseHeaders()
                .add(
                        "Location",
                        authorization.get("redirect_uri") + "?code=c0de&state=" + authorization.get("state")
                                + parameters);
        exchange.sendResponseHeaders(302, -1);
        exchange.close();
    }

    private void token(HttpExchange request) throws IOException {
        String body = new String(request.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        exchange = parameters(body);
        try {
            send(
                    request,
                    "{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"id_token\":\"" + token(idClaims()) + "\"}");
        } catch (JOSEException e) {
            throw new IOException(e);
        }
    }

    JWTClaimsSet.Builder claims() {
        return new JWTClaimsSet.Builder()
                .issuer(issuer())
                .audience(CLIENT)
                .subject("ann")
                .issueTime(Date.from(Instant.now()))
                .expirationTime(Date.from(Instant.now().plusSeconds(600)));
    }

    JWTClaimsSet.Builder idClaims() {
        return claims().claim("nonce", sentNonce);
    }

    String token(JWTClaimsSet.Builder claims) throws JOSEException {
        forgery.accept(claims);
        if (signature == Signature.NONE) return new PlainJWT(claims.build()).serialize();
        boolean isMac = signature == Signature.HMAC;
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(isMac ? JWSAlgorithm.HS256 : JWSAlgorithm.RS256)
                        .keyID(key.getKeyID())
                        .build(),
                claims.build());
        RSAKey used = signature == Signature.UNKNOWN_KEY ? new RSAKeyGenerator(2_048).generate() : key;
        RSAPublicKey known = key.toRSAPublicKey();
        token.sign(isMac ? new MACSigner(known.getEncoded()) : new RSASSASigner(used));
        return token.serialize();
    }

    static Map<String, String> parameters(String query) {
        Map<String, String> parameters = new HashMap<>();
        for (String part : query.split("&", -1)) {
            List<String> pair = List.of(part.split("=", 2));
            parameters.put(pair.get(0), URLDecoder.decode(pair.get(1), StandardCharsets.UTF_8));
        }
        return parameters;
    }

    private static void send(HttpExchange exchange, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
