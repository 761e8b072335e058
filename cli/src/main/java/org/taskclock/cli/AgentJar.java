// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

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

/** The agent, which is in the command line's own jar, so that this one file is all that is needed. */
final class AgentJar {
    private static final String RESOURCE = "/META-INF/taskclock-agent.jar";

    private AgentJar() {}

    /**
     * A file that stays, for a JVM whose environment names it does not start without it; and where any user can read it, for a command
     * may change to another.
     */
    static Path find() throws IOException {
        byte[] jar;
        try (InputStream in = AgentJar.class.getResourceAsStream(RESOURCE)) {
            if (in == null) throw new IOException("this jar holds no agent: it was not packaged");
            jar = in.readAllBytes();
        }
        CRC32 crc = new CRC32();
        crc.update(jar);
        Path folder = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
        String name = "taskclock-agent-" + System.getProperty("user.name") + "-" + Long.toHexString(crc.getValue());
        Path file = folder.resolve(name.replaceAll("[^A-Za-z0-9.-]", "_") + ".jar");
        Path part = Files.createTempFile(folder, "taskclock-agent-", ".jar");
        // Another user may have put one there.
        boolean ours = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                && Files.getOwner(file).equals(Files.getOwner(part))
                && Arrays.equals(Files.readAllBytes(file), jar);
        if (ours) {
            Files.delete(part);
            return file;
        }
        Files.write(part, jar);
        Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rw-r--r--"));
        try {
            return Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            return part; // another user's is in the way
        }
    }
}
