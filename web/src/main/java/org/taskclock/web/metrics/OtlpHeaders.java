// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.taskclock.web.http.WebException;

/**
 * The headers that an OTLP receiver wants, such as a token. They come from a file, because every user can read a
 * command line. The file is read again for each request, so that the token can be replaced. Thread-safe.
 */
public final class OtlpHeaders implements Supplier<Map<String, String>> {
    private final Path file;
    private volatile Map<String, String> last;

    /** Reads the file, which has a line NAME=VALUE for each header. */
    public OtlpHeaders(Path file) throws WebException {
        this.file = file;
        try {
            last = read(file);
        } catch (NoSuchFileException e) {
            throw problem("no such file");
        } catch (CharacterCodingException e) {
            throw problem("is not text in UTF-8");
        } catch (IOException e) {
            throw problem("cannot be read: " + e.getMessage());
        }
        if (last.isEmpty()) throw problem("must have a line NAME=VALUE for each header");
    }

    private WebException problem(String reason) {
        return new WebException("--otlp-headers-file " + file + ": " + reason);
    }

    private static Map<String, String> read(Path file) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String line : Files.readAllLines(file)) {
            int equals = line.indexOf('=');
            if (equals > 0 && !line.startsWith("#"))
                headers.put(
                        line.substring(0, equals).strip(),
                        line.substring(equals + 1).strip());
        }
        return headers;
    }

    /** Returns the headers in the file, or those before if it cannot be read while it is being replaced. */
    @Override
    public Map<String, String> get() {
        try {
            Map<String, String> now = read(file);
            if (!now.isEmpty()) last = now;
        } catch (IOException e) {
            return last;
        }
        return last;
    }
}
