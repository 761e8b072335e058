// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.taskclock.monitor.proc.TargetText;

/** Command lines that become labels. */
public final class ServiceNameFuzz {
    private ServiceNameFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws CharacterCodingException {
        // Also unpaired surrogates, which occur in the names of threads.
        String text = new String(data, StandardCharsets.UTF_16BE);
        String label = TargetText.sanitize(ServiceName.jar(List.of("java", "-jar", text)));
        StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(label));
        ServiceName.jar(List.of(text.split(" ", -1)));
        ServiceName.match("-Dapp=(\\w+)", text);
    }
}
