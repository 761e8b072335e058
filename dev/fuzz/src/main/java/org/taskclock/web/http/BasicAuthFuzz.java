// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import at.favre.lib.crypto.bcrypt.BCrypt;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/** The header {@code Authorization}, and user names and passwords in it. */
public final class BasicAuthFuzz {
    private static final String CREDENTIALS = "alice:p\u00e4ss:word";
    private static final String HEADER = header(CREDENTIALS.getBytes(StandardCharsets.UTF_8));

    /** The cost is the lowest, because every input needs up to three checks. */
    private static final Map<String, String> HASHES =
            Map.of("alice", BCrypt.withDefaults().hashToString(4, "p\u00e4ss:word".toCharArray()));

    private BasicAuthFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        BasicAuth auth = new BasicAuth(HASHES);
        check(auth.verify(new String(data, StandardCharsets.ISO_8859_1)), decoded(data));
        check(auth.verify(header(data)), data);
        // Accepting the right password must not change what else is accepted.
        if (!"alice".equals(auth.verify(HEADER))) throw new AssertionError("the right password is rejected");
        check(auth.verify(header(data)), data);
    }

    private static String header(byte[] credentials) {
        return "Basic " + Base64.getEncoder().encodeToString(credentials);
    }

    private static void check(String user, byte[] credentials) {
        if (user == null) return;
        try {
            if (CREDENTIALS.equals(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(credentials))
                    .toString())) return;
        } catch (CharacterCodingException e) {
            // Reported below.
        }
        throw new AssertionError(
                "these credentials are accepted: " + Base64.getEncoder().encodeToString(credentials));
    }

    /** Returns the credentials in a header; empty if there are none. */
    private static byte[] decoded(byte[] header) {
        String[] parts = new String(header, StandardCharsets.ISO_8859_1).split(" ", 2);
        try {
            return Base64.getDecoder().decode(parts[parts.length - 1].trim());
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }
}
