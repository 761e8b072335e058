// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * The web configuration file, whose format is that of Prometheus' exporters.
 *
 * @param tls null for plain HTTP
 * @param users bcrypt hashes by user name; empty if no password is needed
 */
public record WebConfig(Tls tls, Map<String, String> users) {
    /**
     * The section tls_server_config.
     *
     * @param clientCa null if clients need no certificate
     * @param clientAuth one of {@link #CLIENT_AUTH}
     * @param protocols such as TLSv1.3
     */
    public record Tls(Path certificate, Path key, Path clientCa, String clientAuth, List<String> protocols) {}

    public static final String NO_CLIENT_CERT = "NoClientCert";
    static final String VERIFY_IF_GIVEN = "VerifyClientCertIfGiven";
    static final String REQUIRE_AND_VERIFY = "RequireAndVerifyClientCert";

    private static final List<String> CLIENT_AUTH = List.of(NO_CLIENT_CERT, VERIFY_IF_GIVEN, REQUIRE_AND_VERIFY);
    private static final String TLS = "tls_server_config";
    private static final String USERS = "basic_auth_users";
    private static final List<String> TLS_KEYS =
            List.of("cert_file", "key_file", "client_auth_type", "client_ca_file", "min_version", "max_version");

    /** With a cost from 4 to 31, the range of bcrypt. */
    private static final Pattern HASH = Pattern.compile("\\$2[abxy]?\\$(0[4-9]|[12][0-9]|3[01])\\$[./A-Za-z0-9]{53}");

    private static final List<String> VERSIONS = List.of("TLS12", "TLS13");
    private static final List<String> PROTOCOLS = List.of("TLSv1.2", "TLSv1.3");

    static final WebConfig NONE = new WebConfig(null, Map.of());

    /** Returns whether only clients with a certificate can connect. */
    public boolean requiresClientCertificate() {
        return tls != null && tls.clientAuth.equals(REQUIRE_AND_VERIFY);
    }

    /** Reads a file. Paths in it are relative to its directory. */
    static WebConfig read(Path file) throws WebException {
        return read(file, WebConfig::parse);
    }

    /** Makes settings of the sections of a file in a directory. */
    interface Parser<T> {
        T parse(Map<String, Object> sections, Path directory) throws WebException;
    }

    static <T> T read(Path file, Parser<T> parser) throws WebException {
        String text;
        try {
            text = Files.readString(file);
        } catch (IOException e) {
            throw new WebException(file + ": " + describe(e));
        }
        try {
            return parser.parse(load(text), file.toAbsolutePath().getParent());
        } catch (MarkedYAMLException e) {
            String line = e.getProblemMark() == null
                    ? ""
                    : " in line " + (e.getProblemMark().getLine() + 1);
            throw new WebException(file + ": invalid YAML" + line + ": " + e.getProblem());
        } catch (YAMLException e) {
            throw new WebException(file + ": invalid YAML: " + firstLine(String.valueOf(e.getMessage())));
        } catch (WebException e) {
            throw new WebException(file + ": " + e.getMessage());
        }
    }

    static WebConfig parse(String text, Path directory) throws WebException {
        return parse(load(text), directory);
    }

    private static Map<String, Object> load(String text) throws WebException {
        Object root;
        try {
            root = new Yaml(new SafeConstructor(new LoaderOptions())).load(text);
        } catch (YAMLException e) {
            throw e;
        } catch (RuntimeException e) {
            // SnakeYAML throws other exceptions for some mistakes, such as an escape sequence without digits.
            throw new YAMLException("it cannot be parsed: " + e.getMessage(), e);
        }
        return map("the file", root);
    }

    private static WebConfig parse(Map<String, Object> sections, Path directory) throws WebException {
        checkKeys(sections, "", List.of(TLS, USERS));
        Map<String, String> users = new HashMap<>();
        for (Map.Entry<String, Object> user : map(USERS, sections.get(USERS)).entrySet()) {
            // Other values may be maps and lists that contain themselves.
            if (!(user.getValue() instanceof String hash) || !HASH.matcher(hash).matches())
                throw new WebException(
                        USERS + ": " + user.getKey() + ": must be a bcrypt hash, such as from htpasswd -nBC 10");
            users.put(user.getKey(), hash);
        }
        Tls tls = sections.containsKey(TLS) ? tls(map(TLS, sections.get(TLS)), directory) : null;
        return new WebConfig(tls, users);
    }

    private static Tls tls(Map<String, Object> values, Path directory) throws WebException {
        checkKeys(values, TLS + ".", TLS_KEYS);
        Path certificate = path(values, "cert_file", directory);
        Path key = path(values, "key_file", directory);
        if (certificate == null || key == null) throw new WebException(TLS + ": cert_file and key_file are required");
        Path ca = path(values, "client_ca_file", directory);
        String auth = text(values, "client_auth_type");
        if (auth == null || auth.isEmpty()) auth = NO_CLIENT_CERT;
        if (!CLIENT_AUTH.contains(auth))
            throw new WebException(
                    TLS + ".client_auth_type: " + auth + ": must be one of " + String.join(", ", CLIENT_AUTH));
        if (ca != null && auth.equals(NO_CLIENT_CERT))
            throw new WebException(TLS + ".client_ca_file: is unused: set client_auth_type: " + REQUIRE_AND_VERIFY);
        if (ca == null && !auth.equals(NO_CLIENT_CERT))
            throw new WebException(TLS + ".client_ca_file: is required for client_auth_type: " + auth);
        int min = version(values, "min_version", 0);
        int max = version(values, "max_version", VERSIONS.size() - 1);
        if (min > max) throw new WebException(TLS + ".min_version: is higher than max_version");
        return new Tls(certificate, key, ca, auth, PROTOCOLS.subList(min, max + 1));
    }

    private static int version(Map<String, Object> values, String key, int ifAbsent) throws WebException {
        String version = text(values, key);
        if (version == null) return ifAbsent;
        if (!VERSIONS.contains(version))
            throw new WebException(
                    TLS + "." + key + ": " + version + ": must be one of " + String.join(", ", VERSIONS));
        return VERSIONS.indexOf(version);
    }

    private static Path path(Map<String, Object> values, String key, Path directory) throws WebException {
        return path(TLS, values, key, directory);
    }

    static Path path(String section, Map<String, Object> values, String key, Path directory) throws WebException {
        String text = text(section, values, key);
        if (text == null || text.isEmpty()) return null;
        try {
            return directory.resolve(text);
        } catch (InvalidPathException e) {
            throw new WebException(section + "." + key + ": is not a path: " + e.getReason());
        }
    }

    private static String text(Map<String, Object> values, String key) throws WebException {
        return text(TLS, values, key);
    }

    static String text(String section, Map<String, Object> values, String key) throws WebException {
        Object value = values.get(key);
        if (value == null || value instanceof String) return (String) value;
        throw new WebException(section + "." + key + ": must be text");
    }

    static Map<String, Object> map(String name, Object value) throws WebException {
        if (value == null) return Map.of();
        if (!(value instanceof Map<?, ?> found)) throw new WebException(name + ": must be a map of keys and values");
        Map<String, Object> map = new HashMap<>();
        for (Map.Entry<?, ?> entry : found.entrySet()) {
            // Other keys may be maps and lists that contain themselves.
            if (!(entry.getKey() instanceof String) && !(entry.getKey() instanceof Number))
                throw new WebException(name + ": keys must be text");
            map.put(entry.getKey().toString(), entry.getValue());
        }
        return map;
    }

    static void checkKeys(Map<String, Object> values, String prefix, List<String> known) throws WebException {
        for (String key : values.keySet())
            if (!known.contains(key))
                throw new WebException(prefix + key + ": not supported: supported are " + String.join(", ", known));
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }

    /** File system exceptions often carry only the file name as their message. */
    static String describe(IOException e) {
        if (e instanceof NoSuchFileException) return "no such file";
        if (e instanceof AccessDeniedException) return "permission denied";
        return firstLine(String.valueOf(e.getMessage()));
    }
}
