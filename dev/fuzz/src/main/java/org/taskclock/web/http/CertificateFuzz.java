// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.taskclock.fuzz.InputFile;
import org.taskclock.fuzz.OneLine;

/**
 * The files of certificates and keys: the bytes of a PEM file, or, so that the fuzzer gets further, what it encodes: 0,
 * the length of the certificate in two bytes, the certificate, and the key.
 */
public final class CertificateFuzz {
    private static final int HEADER_BYTES = 3;

    private CertificateFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        Path file = InputFile.of(data.length >= HEADER_BYTES && data[0] == 0 ? encode(data) : data);
        try {
            TlsContext.of(
                    new WebConfig.Tls(file, file, file, WebConfig.REQUIRE_AND_VERIFY, List.of("TLSv1.2", "TLSv1.3")));
        } catch (WebException e) {
            OneLine.check(e);
        }
    }

    private static byte[] encode(byte[] data) {
        int length = ((data[1] & 0xff) << 8) | (data[2] & 0xff);
        int end = Math.min(data.length, HEADER_BYTES + length);
        String text = pem("CERTIFICATE", Arrays.copyOfRange(data, HEADER_BYTES, end))
                + pem("PRIVATE KEY", Arrays.copyOfRange(data, end, data.length));
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String pem(String type, byte[] content) {
        return "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END " + type
                + "-----\n";
    }
}
