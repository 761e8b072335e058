// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** Answers attach requests at a socket of its choice. */
public final class ForgedSocketProgram {
    private ForgedSocketProgram() {}

    public static void main(String[] arguments) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(arguments[0]));
            System.out.println("ready");
            while (true) {
                try (SocketChannel channel = server.accept()) {
                    channel.write(ByteBuffer.wrap("0\nforged".getBytes(StandardCharsets.UTF_8)));
                }
            }
        }
    }
}
