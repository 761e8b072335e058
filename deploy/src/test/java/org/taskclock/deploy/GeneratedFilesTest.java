// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GeneratedFilesTest {
    @Test
    void shouldBeCommittedAsGenerated() throws IOException {
        for (Map.Entry<Path, String> file : GeneratedFiles.of(Path.of("..")).entrySet())
            assertThat(Files.readString(file.getKey()))
                    .as(file.getKey() + ": write it with: " + GeneratedFiles.COMMAND)
                    .isEqualTo(file.getValue());
    }
}
