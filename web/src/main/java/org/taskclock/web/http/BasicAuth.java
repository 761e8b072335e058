// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import at.favre.lib.crypto.bcrypt.BCrypt;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Checks user names and passwords against bcrypt hashes. */
final class BasicAuth {
    private static final String SCHEME = "Basic ";
    private static final int MAX_VERIFIED = 100;

    /** bcrypt ignores the rest of longer passwords. */
    private static final int MAX_PASSWORD_BYTES = 72;

    private static final String DUMMY_HASH = "$2y$%s$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi";
    private static final String DEFAULT_COST = "10";

    private final Map<String, String> hashes;

    /**
     * Checked for unknown users, so that the time of the response does not reveal which users exist. It has the highest
     * cost of the known users.
     */
    private final String dummyHash;

    /** Digests of accepted credentials, because each check of a hash takes about 0.1 s. */
    private final Set<ByteBuffer> verified = ConcurrentHashMap.newKeySet();

    BasicAuth(Map<String, String> hashes) {
        this.hashes = Map.copyOf(hashes);
        String cost = hashes.values().stream()
                .map(hash -> hash.split("\\$", 4)[2])
                .max(Comparator.naturalOrder())
                .orElse(DEFAULT_COST);
        dummyHash = DUMMY_HASH.formatted(cost);
    }

    /** Returns the user; null if the credentials are wrong. Clients that were accepted before do not have to wait. */
    String verify(String header) {
        if (!header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) return null;
        byte[] decoded;
        try {
            decoded =
                    Base64.getDecoder().decode(header.substring(SCHEME.length()).trim());
        } catch (IllegalArgumentException e) {
            return null;
        }
        String credentials = new String(decoded, StandardCharsets.UTF_8);
        int colon = credentials.indexOf(':');
        if (colon < 0) return null;
        String user = credentials.substring(0, colon);
        byte[] password = credentials.substring(colon + 1).getBytes(StandardCharsets.UTF_8);
        if (password.length > MAX_PASSWORD_BYTES) return null;
        ByteBuffer digest = digest(decoded);
        return verified.contains(digest) || check(user, password, digest) ? user : null;
    }

    /** One at a time, so that guessing cannot use all CPUs. */
    private synchronized boolean check(String user, byte[] password, ByteBuffer digest) {
        if (verified.contains(digest)) return true;
        String hash = hashes.get(user);
        byte[] expected = (hash == null ? dummyHash : hash).getBytes(StandardCharsets.US_ASCII);
        boolean matches = BCrypt.verifyer().verify(password, expected).verified;
        if (hash == null || !matches) return false;
        if (verified.size() < MAX_VERIFIED) verified.add(digest);
        return true;
    }

    private static ByteBuffer digest(byte[] text) {
        try {
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }
}
