// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import org.taskclock.fuzz.InputFile;

/** The web configuration file. */
public final class WebConfigFuzz {
    private WebConfigFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        try {
            WebConfig.read(InputFile.of(data));
        } catch (WebException e) {
            if (e.getMessage().chars().anyMatch(Character::isISOControl))
                throw new AssertionError("a control character is printed", e);
        }
    }
}
