// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.ExternalUrl;
import org.taskclock.web.http.HostNames;
import org.taskclock.web.http.ListenAddress;
import org.taskclock.web.http.WebException;

/** Bodies and headers of requests to serve. */
public final class RequestFuzz {
    private static final HostNames HOSTS = new HostNames("", List.of("watch.example"), null);

    private static final Pattern OWN =
            Pattern.compile("(?i)localhost|watch\\.example|[0-9]+(\\.[0-9]+){3}|\\[[0-9a-f:.]+\\]");

    private RequestFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        HostNames.isSameOrigin(text, "http", "localhost:10077");
        if (HOSTS.isAllowed(text) && !OWN.matcher(text).matches())
            throw new AssertionError("a foreign host is allowed: " + text);
        try {
            JsonObject body = Call.parse(data);
            JvmActions.number(body, "seconds", 5, 60);
        } catch (ApiException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
        try {
            ExternalUrl.parse(text);
        } catch (WebException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
        try {
            ListenAddress.parse("--listen", "localhost:" + text);
        } catch (WebException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
    }
}
