// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * The address that a server listens on.
 *
 * @param text HOST:PORT. Without a host, the server listens on all interfaces, as Prometheus' exporters do
 */
public record ListenAddress(String text, InetSocketAddress socket) {
    private static final int MAX_PORT = 65_535;

    /**
     * Parses HOST:PORT.
     *
     * @param option the option that has the address, for messages
     */
    public static ListenAddress parse(String option, String address) throws WebException {
        String problem = option + " " + address + ": ";
        int colon = address.lastIndexOf(':');
        int port;
        try {
            port = colon < 0 ? -1 : Integer.parseInt(address.substring(colon + 1));
        } catch (NumberFormatException e) {
            port = -1;
        }
        if (port < 0 || port > MAX_PORT) throw new WebException(problem + "must be HOST:PORT, such as 127.0.0.1:10077");
        String host = address.substring(0, colon);
        if (host.isEmpty()) return new ListenAddress(address, new InetSocketAddress(port));
        if (host.startsWith("[") && host.endsWith("]")) host = host.substring(1, host.length() - 1);
        try {
            return new ListenAddress(address, new InetSocketAddress(InetAddress.getByName(host), port));
        } catch (UnknownHostException e) {
            throw new WebException(problem + "unknown host");
        }
    }

    /** Returns the host as it was given; empty for all interfaces. */
    public String host() {
        return text.substring(0, text.lastIndexOf(':'));
    }

    public boolean isLoopback() {
        return socket.getAddress().isLoopbackAddress();
    }
}
