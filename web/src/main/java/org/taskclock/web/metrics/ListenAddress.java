// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** The address that a server listens on. */
public final class ListenAddress {
    private static final int MAX_PORT = 65_535;

    private ListenAddress() {}

    /**
     * Parses HOST:PORT. Without a host, the server listens on all interfaces, as Prometheus' exporters do.
     *
     * @param option the option that has the address, for messages
     */
    public static InetSocketAddress parse(String option, String address) throws ExporterException {
        String problem = option + " " + address + ": ";
        int colon = address.lastIndexOf(':');
        int port;
        try {
            port = colon < 0 ? -1 : Integer.parseInt(address.substring(colon + 1));
        } catch (NumberFormatException e) {
            port = -1;
        }
        if (port < 0 || port > MAX_PORT)
            throw new ExporterException(problem + "must be HOST:PORT, such as 127.0.0.1:9464");
        String host = address.substring(0, colon);
        if (host.isEmpty()) return new InetSocketAddress(port);
        if (host.startsWith("[") && host.endsWith("]")) host = host.substring(1, host.length() - 1);
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new ExporterException(problem + "unknown host");
        }
    }
}
