// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.net.http.HttpClient;

/** Closes HTTP clients, which otherwise keep a thread and three files until nothing refers to them. */
public final class HttpClients {
    private HttpClients() {}

    /** Ends what the client is doing. Has no effect before JDK 21, where clients cannot be closed. */
    public static void close(HttpClient client) {
        try {
            HttpClient.class.getMethod("shutdownNow").invoke(client);
        } catch (NoSuchMethodException e) {
            // Its thread ends once the client is garbage.
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
