// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentJarTest {
    private static final byte[] JAR = {'P', 'K', 3, 4};

    @TempDir
    Path folder;

    @Test
    void shouldUseAFileAgain() throws IOException {
        Path first = AgentJar.extract(JAR, folder);
        assertThat(first).hasBinaryContent(JAR);
        assertThat(AgentJar.extract(JAR, folder)).isEqualTo(first);
        assertThat(folder).isDirectoryNotContaining(file -> !file.equals(first));
    }

    @Test
    void shouldNeitherUseNorFollowWhatOthersPlanted() throws IOException {
        Path file = AgentJar.extract(JAR, folder);
        Files.writeString(file, "forged");
        assertThat(AgentJar.extract(JAR, folder)).hasBinaryContent(JAR);

        Path victim = Files.writeString(folder.resolve("victim"), "untouched");
        Files.delete(file);
        Files.createSymbolicLink(file, victim);
        Path extracted = AgentJar.extract(JAR, folder);
        assertThat(Files.isRegularFile(extracted, LinkOption.NOFOLLOW_LINKS)).isTrue();
        assertThat(extracted).hasBinaryContent(JAR);
        assertThat(victim).hasContent("untouched");
    }

    @Test
    void shouldNotUseAFileOfAnotherUser() throws IOException {
        Path file = AgentJar.extract(JAR, folder);
        try {
            Files.setAttribute(file, "unix:uid", 65_534);
        } catch (FileSystemException e) {
            assumeTrue(false, "NOT RUN: only root can give a file to another user");
        }
        // Its content is right now, but the other user can change it before the JVM loads it.
        Path extracted = AgentJar.extract(JAR, folder);
        assertThat(extracted).hasBinaryContent(JAR);
        assertThat(Files.getOwner(extracted)).isEqualTo(Files.getOwner(folder));
    }

    @Test
    void shouldUseANewFileIfThatOfAnotherUserCannotBeReplaced() throws IOException {
        Path file = AgentJar.extract(JAR, folder);
        Files.delete(file);
        Files.createDirectories(file.resolve("not-empty"));
        Path extracted = AgentJar.extract(JAR, folder);
        assertThat(extracted).isNotEqualTo(file).isRegularFile().hasBinaryContent(JAR);
    }
}
