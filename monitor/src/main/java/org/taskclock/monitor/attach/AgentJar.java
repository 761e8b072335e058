// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.taskclock.monitor.proc.TemporaryFolderException;

/** The agent's jar, which is packaged inside the command-line jar so that users need only one file. */
public final class AgentJar {
    private static final String RESOURCE = "/META-INF/taskclock-agent.jar";

    private AgentJar() {}

    /**
     * Returns the agent's jar as a file in the temporary directory, extracting it if necessary. The file is never
     * deleted, because a JVM whose environment refers to it would not start without it. Any user can read it, because a
     * command may switch to another user.
     */
    public static Path find() throws IOException {
        byte[] jar;
        try (InputStream in = AgentJar.class.getResourceAsStream(RESOURCE)) {
            if (in == null) throw new IOException("this jar does not contain the agent: build it with 'mvn package'");
            jar = in.readAllBytes();
        }
        try {
            return extract(jar, TemporaryFolderException.folder());
        } catch (IOException e) {
            throw TemporaryFolderException.of(e);
        }
    }

    static Path extract(byte[] jar, Path folder) throws IOException {
        CRC32 crc = new CRC32();
        crc.update(jar);
        String name = "taskclock-agent-" + System.getProperty("user.name") + "-" + Long.toHexString(crc.getValue());
        Path file = folder.resolve(name.replaceAll("[^A-Za-z0-9.-]", "_") + ".jar");
        Path temporary = Files.createTempFile(folder, "taskclock-agent-", ".jar");
        // Another user may have created a file of that name.
        boolean isOurs = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                && Files.getOwner(file).equals(Files.getOwner(temporary))
                && Arrays.equals(Files.readAllBytes(file), jar);
        if (isOurs) {
            Files.delete(temporary);
            return file;
        }
        try {
            Files.write(temporary, jar);
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-r--r--"));
        } catch (IOException e) {
            Files.delete(temporary); // a full folder may hold a part of it
            throw e;
        }
        try {
            return Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            return temporary; // another user owns a file of that name
        }
    }
}
