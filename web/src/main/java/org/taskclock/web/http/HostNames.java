// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The host names that requests to this server may use. Any other name may belong to a malicious site that points it to
 * this host, to read data through a browser that can reach the server (DNS rebinding). The attack requires a name, so
 * addresses are safe.
 */
public final class HostNames {
    private static final Pattern IPV4 = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}");
    private static final Pattern IPV6 = Pattern.compile("\\[[0-9A-Fa-f:.]+\\]");

    /** Any name. */
    static final HostNames ANY = new HostNames();

    /** Null for any. */
    private final Set<String> names;

    /** Null if browsers reach this server directly. */
    private final ExternalUrl external;

    private HostNames() {
        names = null;
        external = null;
    }

    public HostNames(String listenHost, List<String> allowed, ExternalUrl external) {
        this.external = external;
        names = new HashSet<>(Set.of("localhost"));
        if (external != null) names.add(external.host());
        if (!listenHost.isEmpty()) names.add(listenHost.toLowerCase(Locale.ROOT));
        for (String name : allowed) names.add(name.toLowerCase(Locale.ROOT));
    }

    /** Returns whether requests to this host are accepted. IPv6 addresses are in brackets. */
    public boolean isAllowed(String host) {
        if (names == null) return true;
        if (host == null) return false;
        return IPV4.matcher(host).matches()
                || IPV6.matcher(host).matches()
                || names.contains(host.toLowerCase(Locale.ROOT));
    }

    /** Returns the prefix of the external URL; empty if there is none. */
    String prefix() {
        return external == null ? "" : external.prefix();
    }

    /** Returns whether a request comes from the page at the external URL. */
    boolean isExternal(String origin) {
        return external != null && external.isOrigin(origin);
    }

    /**
     * Returns whether a request was sent by a page of this server.
     *
     * @param origin the header of that name
     * @param authority host and port of the request
     */
    public static boolean isSameOrigin(String origin, String scheme, String authority) {
        try {
            URI uri = new URI(origin);
            return scheme.equalsIgnoreCase(uri.getScheme()) && authority.equalsIgnoreCase(uri.getRawAuthority());
        } catch (URISyntaxException e) {
            return false;
        }
    }
}
