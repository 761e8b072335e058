// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.CodeSource;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The native library out of our jar, as a file in a directory of its own. A mapped library needs no name, so the file is
 * deleted as soon as it is loaded, and nothing stays behind, however the JVM ends. All of it is part of the first reading of a process,
 * so it uses what of the JDK is loaded quickly.
 */
final class ExtractedLibrary implements AutoCloseable {
    private static final int TRIES = 10;

    private final Path directory;
    private final Path file;

    private ExtractedLibrary(Path directory, Path file) {
        this.directory = directory;
        this.file = file;
    }

    /** Extracts a resource that lies beside this class. Null if there is none. */
    static ExtractedLibrary of(String resource) throws IOException {
        byte[] library;
        byte[] version;
        try (ZipFile jar = ownJar()) {
            library = read(jar, resource);
            version = read(jar, "version");
        }
        if (library == null) return null;
        String name = version == null ? "unknown" : new String(version, StandardCharsets.UTF_8).trim();
        Path directory = temporaryDirectory();
        ExtractedLibrary extracted = new ExtractedLibrary(directory, directory.resolve("libtaskclock-" + name + ".so"));
        try (FileOutputStream out = new FileOutputStream(extracted.file.toFile())) {
            out.write(library);
        } catch (IOException e) {
            extracted.close();
            throw e;
        }
        return extracted;
    }

    Path file() {
        return file;
    }

    @Override
    public void close() {
        delete(file);
        delete(directory);
    }

    /** The jar that this class is from; null if it is from elsewhere. Its own stream would cost 7 ms, by way of a URL. */
    private static ZipFile ownJar() {
        try {
            CodeSource source = ExtractedLibrary.class.getProtectionDomain().getCodeSource();
            URL location = source == null ? null : source.getLocation();
            if (location == null || !"file".equals(location.getProtocol())) return null;
            String path = location.getPath();
            File jar = path.indexOf('%') < 0 ? new File(path) : new File(location.toURI());
            return jar.isFile() ? new ZipFile(jar) : null;
        } catch (IOException | URISyntaxException | RuntimeException e) {
            return null; // there is a slower way
        }
    }

    private static byte[] read(ZipFile jar, String resource) throws IOException {
        String className = ExtractedLibrary.class.getName();
        String path = className.substring(0, className.lastIndexOf('.') + 1).replace('.', '/') + resource;
        ZipEntry entry = jar == null ? null : jar.getEntry(path);
        try (InputStream in =
                entry == null ? ExtractedLibrary.class.getResourceAsStream(resource) : jar.getInputStream(entry)) {
            if (in == null) return null;
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            in.transferTo(all);
            return all.toByteArray();
        }
    }

    /**
     * A new directory, of this process's owner alone. Without the JDK's random names, which cost the start of a program 20
     * ms: it is not the name that protects it.
     */
    private static Path temporaryDirectory() throws IOException {
        FileAttribute<?> ownerOnly = PosixFilePermissions.asFileAttribute(Set.of(
                PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE));
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        for (int i = 0; ; i++) {
            String name = "taskclock-" + Long.toHexString(System.nanoTime());
            try {
                return Files.createDirectory(parent.resolve(name), ownerOnly);
            } catch (FileAlreadyExistsException e) {
                if (i == TRIES) throw e;
            }
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException | RuntimeException e) {
            path.toFile().deleteOnExit();
        }
    }
}
