// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.function.Consumer;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The token that clients must send. It never leaves this class. */
public final class Token {
    private static final int MIN_LENGTH = 16;
    private static final String ALGORITHM = "HmacSHA256";

    private final byte[] token;

    /** The value of the cookie of a browser that knows the token. It changes with the token only. */
    private final String cookie;

    private Token(String token) {
        this.token = token.getBytes(StandardCharsets.UTF_8);
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(this.token, ALGORITHM));
            cookie = HexFormat.of().formatHex(mac.doFinal("taskclock cookie".getBytes(StandardCharsets.US_ASCII)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    /** Reads the first line of a file. */
    public static Token read(Path file, Consumer<String> log) throws WebException {
        String remedy = "create it with a random token, such as the output of openssl rand -hex 32";
        String text = SecretFile.read("--token-file", file, remedy);
        if (text.length() < MIN_LENGTH || text.contains("\n"))
            throw new WebException("--token-file " + file + ": must be one line of at least " + MIN_LENGTH
                    + " characters, such as the output of openssl rand -hex 32");
        SecretFile.warn("--token-file", file, log);
        return new Token(text);
    }

    public boolean matches(String candidate) {
        return MessageDigest.isEqual(token, candidate.getBytes(StandardCharsets.UTF_8));
    }

    boolean matchesCookie(String value) {
        return MessageDigest.isEqual(
                cookie.getBytes(StandardCharsets.US_ASCII), value.getBytes(StandardCharsets.UTF_8));
    }

    public String cookie() {
        return cookie;
    }
}
