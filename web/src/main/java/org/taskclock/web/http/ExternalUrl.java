// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The address of the page for browsers that reach it through a proxy. It is an option so that the server need not trust
 * request headers.
 *
 * @param origin as browsers send it
 * @param prefix the path in front of the page's own path, without a trailing slash; empty if there is none
 */
public record ExternalUrl(String origin, String host, String prefix) {
    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9._~-]+)*/?");

    public static ExternalUrl parse(String text) throws WebException {
        try {
            URI uri = new URI(text);
            String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
            boolean isComplete = uri.getHost() != null
                    && uri.getUserInfo() == null
                    && uri.getQuery() == null
                    && uri.getFragment() == null
                    && PATH.matcher(uri.getRawPath()).matches();
            if (isComplete && (scheme.equals("https") || scheme.equals("http"))) {
                String host = uri.getHost().toLowerCase(Locale.ROOT);
                boolean isDefaultPort = uri.getPort() == -1 || uri.getPort() == (scheme.equals("https") ? 443 : 80);
                String path = uri.getPath();
                return new ExternalUrl(
                        scheme + "://" + host + (isDefaultPort ? "" : ":" + uri.getPort()),
                        host,
                        path.endsWith("/") ? path.substring(0, path.length() - 1) : path);
            }
        } catch (URISyntaxException e) {
            // Reported below.
        }
        throw new WebException(
                "--external-url " + text + ": must be a URL such as https://watch.example.com/taskclock/");
    }

    public boolean isOrigin(String header) {
        return origin.equalsIgnoreCase(header);
    }

    public boolean isSecure() {
        return origin.startsWith("https:");
    }
}
