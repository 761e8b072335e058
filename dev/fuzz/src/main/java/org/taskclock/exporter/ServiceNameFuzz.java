// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Command lines that become labels and lines of the log. */
public final class ServiceNameFuzz {
    private ServiceNameFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws CharacterCodingException {
        // Also unpaired surrogates, which occur in the names of threads.
        String text = new String(data, StandardCharsets.UTF_16BE);
        String label = Text.sanitize(ServiceName.jar(List.of("java", "-jar", text)));
        StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(label));
        if (Text.printable(text).chars().anyMatch(Character::isISOControl))
            throw new AssertionError("a control character is printed");
        ServiceName.jar(List.of(text.split(" ", -1)));
        ServiceName.match("-Dapp=(\\w+)", text);
    }
}
