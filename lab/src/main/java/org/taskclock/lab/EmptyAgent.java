// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** An agent that does nothing. Loading any agent makes the JVM do more work at each mount of a virtual thread. */
public final class EmptyAgent {
    private EmptyAgent() {}

    /** Does nothing. Called by the JVM. */
    public static void premain(String options) {}

    /** Writes an agent jar that contains only this class. The jar is deleted when this JVM exits. */
    static Path writeJar() throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.putValue("Premain-Class", EmptyAgent.class.getName());
        attributes.putValue("Can-Retransform-Classes", "true");
        String file = EmptyAgent.class.getName().replace('.', '/') + ".class";
        Path jar = Files.createTempFile("taskclock-empty-agent-", ".jar");
        jar.toFile().deleteOnExit();
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out, manifest);
                InputStream bytes = EmptyAgent.class.getClassLoader().getResourceAsStream(file)) {
            entries.putNextEntry(new JarEntry(file));
            bytes.transferTo(entries);
        }
        return jar;
    }
}
