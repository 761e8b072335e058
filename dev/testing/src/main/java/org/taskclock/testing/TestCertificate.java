// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.testing;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A certificate that signs itself, of a server on loopback and of its clients. */
public final class TestCertificate {
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final String ALIAS = "key";

    private final KeyStore keys;

    private TestCertificate(KeyStore keys) {
        this.keys = keys;
    }

    /** Creates a certificate, and writes it to NAME.crt and its key to NAME.key. */
    public static TestCertificate create(Path directory, String name)
            throws IOException, InterruptedException, GeneralSecurityException {
        Path store = directory.resolve(name + ".p12");
        Files.deleteIfExists(store);
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-J-XX:TieredStopAtLevel=1",
                        "-J-XX:+UseSerialGC",
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) throw new IOException(output);
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        writePem(
                directory.resolve(name + ".crt"),
                "CERTIFICATE",
                keys.getCertificate(ALIAS).getEncoded());
        writePem(
                directory.resolve(name + ".key"),
                "PRIVATE KEY",
                keys.getKey(ALIAS, PASSWORD).getEncoded());
        return new TestCertificate(keys);
    }

    private static void writePem(Path file, String type, byte[] content) throws IOException {
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        Files.writeString(file, "-----BEGIN " + type + "-----\n" + base64 + "\n-----END " + type + "-----\n");
    }

    /**
     * Returns a context of a client that trusts a server with this certificate.
     *
     * @param own the certificate that the client presents; null for none
     */
    public SSLContext clientContext(TestCertificate own) throws GeneralSecurityException, IOException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("server", keys.getCertificate(ALIAS));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        KeyManagerFactory manager = null;
        if (own != null) {
            manager = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            manager.init(own.keys, PASSWORD);
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(manager == null ? null : manager.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    /** Returns a client, as {@link #clientContext} does. */
    public HttpClient client(TestCertificate own) throws GeneralSecurityException, IOException {
        return HttpClient.newBuilder().sslContext(clientContext(own)).build();
    }
}
