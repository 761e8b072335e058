// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which directories are used. */
class HistoryDirectoryTest {
    @TempDir
    Path temporary;

    @ParameterizedTest
    @ValueSource(strings = {"rwxr-xr-x", "rwx--x---", "rwx---r--", "rwx-w----", "rwxrwxrwx"})
    void shouldRefuseADirectoryThatOthersCanAccess(String permissions) throws IOException {
        Path directory = directory(permissions);
        assertThatThrownBy(() -> DuckDbHistory.open(directory, HistoryOptions.DEFAULT))
                .isInstanceOf(HistoryException.class)
                .hasMessage(directory + ": other users have access: run chmod 700 " + directory
                        + ", or choose another directory with --data");
        try (var files = Files.list(directory)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void shouldUseADirectoryOfTheOwnerAlone() throws IOException {
        Path directory = directory("rwx------");
        Path link = Files.createSymbolicLink(temporary.resolve("link"), directory);
        for (Path path : new Path[] {directory, link}) {
            try (History history = DuckDbHistory.open(path, HistoryOptions.DEFAULT)) {
                assertThat(history.status().problem()).isNull();
            }
        }
        assertThat(directory.resolve(HistoryDatabase.FILE)).exists();
    }

    @Test
    void shouldRefuseAFile() throws IOException {
        Path file = Files.writeString(temporary.resolve("file"), "");
        assertThatThrownBy(() -> DuckDbHistory.open(file, HistoryOptions.DEFAULT))
                .isInstanceOf(HistoryException.class)
                .hasMessageStartingWith(file + ": ")
                .hasMessageEndingWith(": choose another with --data");
    }

    private Path directory(String permissions) throws IOException {
        Path directory = Files.createDirectory(temporary.resolve("data"));
        return Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(permissions));
    }
}
