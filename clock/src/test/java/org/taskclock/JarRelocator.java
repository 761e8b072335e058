// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/** Relocates the library's jar to another package, including versioned classes and resources, as shading builds do. */
final class JarRelocator {
    private static final String FROM = LibraryCopy.PACKAGE.replace('.', '/') + "/";

    private JarRelocator() {}

    static Path relocate(Path jar, Path into, String packageName, boolean keepModuleInfo) throws IOException {
        String to = packageName.replace('.', '/') + "/";
        Remapper remapper = new Remapper(Opcodes.ASM9) {
            @Override
            public String map(String name) {
                return name.startsWith(FROM) ? to + name.substring(FROM.length()) : name;
            }
        };
        try (JarFile from = new JarFile(jar.toFile());
                OutputStream file = Files.newOutputStream(into);
                JarOutputStream out = new JarOutputStream(file, from.getManifest())) {
            for (JarEntry entry : Collections.list(from.entries())) {
                String name = entry.getName();
                boolean isDropped = name.equals("module-info.class") && !keepModuleInfo;
                if (entry.isDirectory() || name.equals(JarFile.MANIFEST_NAME) || isDropped) continue;
                byte[] bytes = from.getInputStream(entry).readAllBytes();
                out.putNextEntry(new JarEntry(name.replace(FROM, to)));
                out.write(name.endsWith(".class") ? remap(bytes, remapper) : bytes);
            }
        }
        return into;
    }

    private static byte[] remap(byte[] bytes, Remapper remapper) {
        ClassWriter writer = new ClassWriter(0);
        new ClassReader(bytes).accept(new ClassRemapper(writer, remapper), 0);
        return writer.toByteArray();
    }
}
