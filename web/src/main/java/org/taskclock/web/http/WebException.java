// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

/** Thrown if a server cannot start because of its options or files. The message is the reason, in one line. */
public final class WebException extends Exception {
    private static final long serialVersionUID = 1;

    /** Creates an exception. Control characters, which a file can put into the message, are replaced. */
    public WebException(String message) {
        super(message.replaceAll("[\\p{Cc}\\p{Cn}]", "?"));
    }
}
