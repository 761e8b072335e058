// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.CodeSource;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The native library, extracted from our jar into a directory that only this user can access. A mapped library does not
 * need its file, so the file is deleted as soon as it is loaded. Nothing is left behind, no matter how the JVM ends.
 * Extraction is part of the first reading of a process, so this class uses only parts of the JDK that load fast:
 * java.nio.file costs 2 ms.
 */
final class ExtractedLibrary implements AutoCloseable {
    private static final int MAX_ATTEMPTS = 10;

    private final File directory;
    private final File file;

    private ExtractedLibrary(File directory, File file) {
        this.directory = directory;
        this.file = file;
    }

    /** Extracts a resource from the package of this class. Returns null if it does not exist. */
    static ExtractedLibrary extract(String resource) throws IOException {
        byte[] library;
        byte[] version;
        try (ZipFile jar = ownJar()) {
            library = read(jar, resource);
            version = read(jar, "version");
        }
        if (library == null) return null;
        String name = version == null ? "unknown" : new String(version, StandardCharsets.UTF_8).trim();
        File directory = privateDirectory();
        ExtractedLibrary extracted =
                new ExtractedLibrary(directory, new File(directory, "libtaskclock-" + name + ".so"));
        try (FileOutputStream out = new FileOutputStream(extracted.file)) {
            out.write(library);
        } catch (IOException e) {
            extracted.close();
            throw e;
        }
        return extracted;
    }

    File file() {
        return file;
    }

    @Override
    public void close() {
        if (!file.delete() && file.exists()) file.deleteOnExit();
        if (!directory.delete() && directory.exists()) directory.deleteOnExit();
    }

    /** Returns our jar, or null if there is none. getResourceAsStream, which goes through a URL, would cost 7 ms. */
    private static ZipFile ownJar() {
        try {
            CodeSource source = ExtractedLibrary.class.getProtectionDomain().getCodeSource();
            URL location = source == null ? null : source.getLocation();
            if (location == null || !"file".equals(location.getProtocol())) return null;
            String path = location.getPath();
            File jar = path.indexOf('%') < 0 ? new File(path) : new File(location.toURI());
            return jar.isFile() ? new ZipFile(jar) : null;
        } catch (Exception e) {
            return null; // the caller falls back to getResourceAsStream
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

    /** Creates a directory that only this user can access. Its name need not be secret. */
    private static File privateDirectory() throws IOException {
        File directory = null;
        for (int i = 0; i < MAX_ATTEMPTS && directory == null; i++) {
            File candidate = new File(newName());
            if (candidate.mkdir()) directory = candidate;
        }
        if (directory == null) {
            directory = new File(newName());
            Files.createDirectory(directory.toPath()); // fails again, with a reason
        }
        try {
            makePrivate(directory);
        } catch (IOException e) {
            directory.delete();
            throw e;
        }
        return directory;
    }

    /**
     * Makes a new directory accessible to this user only.
     *
     * @throws IOException if it is not empty: another user may have added files before the permissions were set
     */
    static void makePrivate(File directory) throws IOException {
        boolean isPrivate = directory.setReadable(false, false)
                && directory.setWritable(false, false)
                && directory.setExecutable(false, false)
                && directory.setReadable(true, true)
                && directory.setWritable(true, true)
                && directory.setExecutable(true, true);
        String[] names = directory.list();
        if (!isPrivate || names == null || names.length > 0) {
            throw new IOException(directory + " cannot be made inaccessible to other users");
        }
    }

    private static String newName() {
        return System.getProperty("java.io.tmpdir") + "/taskclock-" + Long.toHexString(System.nanoTime());
    }
}
