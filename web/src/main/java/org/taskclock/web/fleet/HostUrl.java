// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.web.http.WebException;

/**
 * Where the {@code taskclock serve} of each host is.
 *
 * @param pattern a URL in which {host} and {instance} stand for parts of the label instance
 */
record HostUrl(String pattern) {
    private static final String HOST = "{host}";
    private static final String INSTANCE = "{instance}";

    /** Anything else would change the meaning of the URL. */
    private static final Pattern ADDRESS = Pattern.compile("(?<host>\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?");

    static HostUrl parse(String pattern) throws WebException {
        HostUrl url = new HostUrl(pattern);
        try {
            URI uri = new URI(url.fill("host", "host:1"));
            boolean isWeb = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            if (isWeb
                    && uri.getHost() != null
                    && uri.getUserInfo() == null
                    && uri.getFragment() == null
                    && (pattern.contains(HOST) || pattern.contains(INSTANCE))) return url;
        } catch (URISyntaxException e) {
            // Reported below.
        }
        throw new WebException("--host-url " + pattern + ": must be a URL with {host} or {instance}, such as"
                + " https://{host}:10077/");
    }

    private String fill(String host, String instance) {
        return pattern.replace(HOST, host).replace(INSTANCE, instance);
    }

    /** Returns the address of the page of a host; null if the label is not an address. */
    String of(String instance) {
        if (instance == null) return null;
        Matcher address = ADDRESS.matcher(instance);
        return address.matches() ? fill(address.group("host"), instance) : null;
    }
}
