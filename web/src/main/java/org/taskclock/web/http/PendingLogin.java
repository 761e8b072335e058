// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.net.URI;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;

/**
 * A login that has begun.
 *
 * @param state identifies it in the response
 * @param browser the cookie of the browser that began it
 * @param nonce must be in the ID token
 * @param verifier proves to the provider that the code is redeemed by whom it was issued for (PKCE)
 * @param redirect the address of this server to which the provider sends the browser
 * @param view the fragment of the page's address to return to
 * @param expires when the login must have ended
 */
record PendingLogin(
        String state, String browser, String nonce, String verifier, URI redirect, String view, Instant expires) {
    private static final SecureRandom RANDOM = new SecureRandom();

    PendingLogin(URI redirect, String view, Instant expires) {
        this(random(), random(), random(), random(), redirect, view, expires);
    }

    /** Returns 43 characters, from 256 bits. */
    static String random() {
        byte[] bytes = new byte[32];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
