// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;

/**
 * The credentials and TLS settings of an HTTP client. The format of the file is that of promtool's --http.config.file.
 */
public final class ClientConfig {
    private static final String AUTHORIZATION = "authorization";
    private static final String BASIC = "basic_auth";
    private static final String TLS = "tls_config";
    private static final String HEADERS = "http_headers";

    /** Anonymous, and with the authorities of the JDK. */
    public static final ClientConfig NONE = new ClientConfig(Map.of(), Map.of(), null);

    /** A secret, or the file that has it. */
    private record Secret(String before, String text, Path file, String setting) {
        /** Reads files each time, because tokens expire and are replaced. */
        String read() throws WebException {
            if (file == null) return before + text;
            try {
                return before + Files.readString(file).strip();
            } catch (IOException e) {
                throw new WebException(setting + ": " + file + ": " + WebConfig.describe(e));
            }
        }
    }

    private final Map<String, String> users;
    private final Map<String, Secret> secrets;

    /** Null for the default. */
    private final SSLContext tls;

    private ClientConfig(Map<String, String> users, Map<String, Secret> secrets, SSLContext tls) {
        this.users = users;
        this.secrets = secrets;
        this.tls = tls;
    }

    /** Reads a file. Paths in it are relative to its directory. */
    public static ClientConfig read(Path file) throws WebException {
        return WebConfig.read(file, (sections, directory) -> {
            ClientConfig config = parse(sections, directory);
            config.headers();
            return config;
        });
    }

    private static ClientConfig parse(Map<String, Object> sections, Path directory) throws WebException {
        WebConfig.checkKeys(sections, "", List.of(AUTHORIZATION, BASIC, TLS, HEADERS));
        Map<String, String> users = new LinkedHashMap<>();
        Map<String, Secret> secrets = new LinkedHashMap<>();
        for (String name : WebConfig.map(HEADERS, sections.get(HEADERS)).keySet()) {
            String section = HEADERS + "." + name;
            Map<String, Object> header = section(sections, HEADERS, name);
            WebConfig.checkKeys(header, section + ".", List.of("values", "secrets", "files"));
            Object values = header.getOrDefault("values", header.getOrDefault("secrets", header.get("files")));
            if (!(values instanceof List<?> list) || list.size() != 1 || !(list.get(0) instanceof String value))
                throw new WebException(section + ": must have one value, such as values: [team-a]");
            Map<String, Object> single = Map.of("value", value);
            secrets.put(
                    name,
                    header.containsKey("files")
                            ? new Secret("", null, WebConfig.path(section, single, "value", directory), section)
                            : new Secret("", value, null, section));
        }
        if (sections.containsKey(AUTHORIZATION) && sections.containsKey(BASIC))
            throw new WebException(AUTHORIZATION + ": cannot be combined with " + BASIC + ": remove one of them");
        if (sections.containsKey(AUTHORIZATION)) {
            Map<String, Object> values = WebConfig.map(AUTHORIZATION, sections.get(AUTHORIZATION));
            WebConfig.checkKeys(values, AUTHORIZATION + ".", List.of("type", "credentials", "credentials_file"));
            String type = WebConfig.text(AUTHORIZATION, values, "type");
            Secret secret = secret(AUTHORIZATION, values, "credentials", directory);
            String before = (type == null ? "Bearer" : type) + " ";
            secrets.put("Authorization", new Secret(before, secret.text, secret.file, secret.setting));
        }
        if (sections.containsKey(BASIC)) {
            Map<String, Object> values = WebConfig.map(BASIC, sections.get(BASIC));
            WebConfig.checkKeys(values, BASIC + ".", List.of("username", "password", "password_file"));
            String user = WebConfig.text(BASIC, values, "username");
            if (user == null) throw new WebException(BASIC + ".username: is required");
            users.put("Authorization", user);
            secrets.put("Authorization", secret(BASIC, values, "password", directory));
        }
        return new ClientConfig(users, secrets, tls(WebConfig.map(TLS, sections.get(TLS)), directory));
    }

    private static Map<String, Object> section(Map<String, Object> sections, String section, String key)
            throws WebException {
        return WebConfig.map(
                section + "." + key,
                WebConfig.map(section, sections.get(section)).get(key));
    }

    /** Returns a secret that is either in the value or in the file that another value names. */
    private static Secret secret(String section, Map<String, Object> values, String key, Path directory)
            throws WebException {
        String text = WebConfig.text(section, values, key);
        Path file = WebConfig.path(section, values, key + "_file", directory);
        if ((text == null) == (file == null))
            throw new WebException(section + ": one of " + key + " and " + key + "_file is required");
        return new Secret("", text, file, section + "." + key + "_file");
    }

    private static SSLContext tls(Map<String, Object> values, Path directory) throws WebException {
        WebConfig.checkKeys(values, TLS + ".", List.of("ca_file", "cert_file", "key_file"));
        Path ca = WebConfig.path(TLS, values, "ca_file", directory);
        Path certificate = WebConfig.path(TLS, values, "cert_file", directory);
        Path key = WebConfig.path(TLS, values, "key_file", directory);
        if ((certificate == null) != (key == null))
            throw new WebException(TLS + ": cert_file and key_file are required together");
        return ca == null && certificate == null ? null : TlsContext.of(certificate, key, ca, "ca_file");
    }

    /** Returns the headers of the next request. Secrets that are in files are read each time. */
    public Map<String, String> headers() throws WebException {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Map.Entry<String, Secret> header : secrets.entrySet()) {
            String value = header.getValue().read();
            String user = users.get(header.getKey());
            if (user != null)
                value = "Basic "
                        + Base64.getEncoder().encodeToString((user + ":" + value).getBytes(StandardCharsets.UTF_8));
            if (value.chars().anyMatch(c -> c < ' ' && c != '\t'))
                throw new WebException(header.getValue().setting + ": must be one line");
            headers.put(header.getKey(), value);
        }
        return headers;
    }

    /** Returns null for the default of the JDK. */
    public SSLContext tls() {
        return tls;
    }
}
