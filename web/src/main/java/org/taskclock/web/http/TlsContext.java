// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Loads certificates and keys. */
public final class TlsContext {
    private static final Pattern KEY = Pattern.compile("-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----([^-]*)-----END");
    private static final char[] NO_PASSWORD = {};

    private TlsContext() {}

    /** Loads the certificates and the key of a server. */
    public static SSLContext of(WebConfig.Tls tls) throws WebException {
        return of(tls.certificate(), tls.key(), tls.clientCa(), "client_ca_file");
    }

    /**
     * Loads what one side of a connection needs.
     *
     * @param certificate null if this side has none
     * @param ca signs certificates of the other side; null for the authorities of the JDK
     * @param caName the name of that setting
     */
    static SSLContext of(Path certificate, Path keyFile, Path ca, String caName) throws WebException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    certificate == null ? null : keyManagers(certificate, keyFile),
                    ca == null ? null : trustManagers(ca, caName),
                    null);
            return context;
        } catch (GeneralSecurityException | IOException | ProviderException e) {
            throw new WebException("TLS: " + (certificate == null ? ca : certificate) + ": " + e.getMessage());
        }
    }

    private static KeyManager[] keyManagers(Path certificate, Path keyFile)
            throws WebException, GeneralSecurityException, IOException {
        Certificate[] chain = certificates(certificate, "cert_file").toArray(Certificate[]::new);
        PrivateKey key = key(keyFile);
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("taskclock", key, NO_PASSWORD, chain);
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, NO_PASSWORD);
        if (!isPair(key, chain[0].getPublicKey()))
            throw new WebException("key_file: " + keyFile + ": is not the key of the certificate");
        return managers.getKeyManagers();
    }

    private static TrustManager[] trustManagers(Path ca, String name)
            throws WebException, GeneralSecurityException, IOException {
        KeyStore authorities = KeyStore.getInstance("PKCS12");
        authorities.load(null, null);
        int number = 0;
        for (Certificate authority : certificates(ca, name))
            authorities.setCertificateEntry("ca" + number++, authority);
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(authorities);
        return managers.getTrustManagers();
    }

    /** If one of the two files is replaced before the other, each is valid, but no connection would succeed. */
    private static boolean isPair(PrivateKey key, PublicKey certified) throws GeneralSecurityException {
        if (!key.getAlgorithm().equals(certified.getAlgorithm())) return false;
        Signature signature = Signature.getInstance(
                switch (key.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    default -> key.getAlgorithm();
                });
        signature.initSign(key);
        byte[] signed = signature.sign();
        signature.initVerify(certified);
        return signature.verify(signed);
    }

    private static Collection<? extends Certificate> certificates(Path file, String name) throws WebException {
        try {
            Collection<? extends Certificate> found = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
            if (!found.isEmpty()) return found;
        } catch (IOException e) {
            throw new WebException(name + ": " + file + ": " + WebConfig.describe(e));
        } catch (CertificateException e) {
            // The message depends on the provider.
        }
        throw new WebException(name + ": " + file + ": has no certificate in PEM format");
    }

    private static PrivateKey key(Path file) throws WebException {
        String text;
        try {
            text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new WebException("key_file: " + file + ": " + WebConfig.describe(e));
        }
        Matcher found = KEY.matcher(text);
        if (!found.find()) throw new WebException("key_file: " + file + ": has no private key in PEM format");
        if (!found.group(1).isEmpty())
            throw new WebException("key_file: " + file + ": has the format \"" + found.group(1)
                    + "PRIVATE KEY\": convert it to PKCS #8 with openssl pkcs8 -topk8 -nocrypt");
        try {
            PKCS8EncodedKeySpec encoded =
                    new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(found.group(2)));
            for (String algorithm : List.of("RSA", "EC", "EdDSA")) {
                try {
                    return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
                } catch (InvalidKeySpecException e) {
                    // The key is for another algorithm.
                }
            }
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            // Reported below.
        }
        throw new WebException("key_file: " + file + ": the private key cannot be decoded");
    }
}
