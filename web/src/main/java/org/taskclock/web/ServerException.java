// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

/** Thrown if the server cannot start because of its options or files. The message is the reason, in one line. */
public final class ServerException extends Exception {
    private static final long serialVersionUID = 1;

    ServerException(String message) {
        super(message);
    }
}
