// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;
import org.taskclock.internal.JdkVersions;

/**
 * A JDK.
 *
 * @param version from its file {@code release}; made unique with the vendor if several JDKs have the same version
 */
record Jdk(Path home, String version, String vendor) {
    private static final Path DIRECTORY = Path.of("/usr/lib/jvm");

    int feature() {
        return feature(version);
    }

    static int feature(String version) {
        String digits = version.replaceFirst("[^0-9].*", "");
        return digits.isEmpty() ? 0 : Integer.parseInt(digits);
    }

    static boolean readsUserTimeAsText(String version) {
        String plain = version.replaceFirst("[^\\d.].*", "");
        return JdkVersions.readsUserTimeAsText(Runtime.Version.parse(plain));
    }

    Path java() {
        return home.resolve("bin/java");
    }

    boolean hasVirtualThreads() {
        return feature() >= JdkVersions.VIRTUAL_THREADS;
    }

    /** Returns whether the JVM has the flag -XX:+DontYieldALot. */
    boolean hasDontYieldALot() {
        return feature() < JdkVersions.NO_DONT_YIELD_A_LOT;
    }

    @Override
    public String toString() {
        return "JDK " + version;
    }

    /**
     * Returns the named JDKs. Without names, returns those in /usr/lib/jvm, oldest first, or else the JDK of this JVM.
     */
    static List<Jdk> find(List<Path> named) throws LabException {
        List<Jdk> jdks = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        for (Path path : named) {
            Jdk jdk = of(path);
            if (jdk == null)
                throw new LabException("--jdk " + path + ": not a JDK: specify a directory that contains bin/java");
            if (jdk.feature() < JdkVersions.OLDEST) {
                throw new LabException(
                        "--jdk " + path + ": " + jdk + " is too old: specify JDK " + JdkVersions.OLDEST + " or later");
            }
            if (seen.add(jdk.home)) jdks.add(jdk.distinct(jdks));
        }
        if (!named.isEmpty()) return jdks;
        try (Stream<Path> all = Files.isDirectory(DIRECTORY) ? Files.list(DIRECTORY) : Stream.empty()) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Jdk jdk = of(path);
                if (jdk != null && jdk.feature() >= JdkVersions.OLDEST && seen.add(jdk.home))
                    jdks.add(jdk.distinct(jdks));
            }
        } catch (IOException e) {
            throw new LabException(DIRECTORY + ": " + e.getMessage() + ": specify a JDK with --jdk PATH");
        }
        if (jdks.isEmpty()) jdks.add(of(Path.of(System.getProperty("java.home"))));
        jdks.sort(Comparator.comparingInt((Jdk jdk) -> jdk.feature()).thenComparing(Jdk::version));
        return jdks;
    }

    /** Returns this JDK with a unique version: adds the vendor, and a number if necessary. */
    private Jdk distinct(List<Jdk> others) {
        String name = version;
        for (int i = 1; has(others, name); i++) name = version + " " + vendor + (i == 1 ? "" : " " + i);
        return new Jdk(home, name, vendor);
    }

    private static boolean has(List<Jdk> jdks, String version) {
        return jdks.stream().anyMatch(jdk -> jdk.version.equals(version));
    }

    /** Returns the JDK in a directory, or null if there is none. */
    private static Jdk of(Path path) {
        Path file = path.resolve("release");
        if (!Files.isExecutable(path.resolve("bin/java")) || !Files.isReadable(file)) return null;
        Properties release = new Properties();
        try (Stream<String> lines = Files.lines(file)) {
            lines.filter(line -> line.contains("=")).forEach(line -> {
                String[] parts = line.split("=", 2);
                release.put(parts[0], parts[1].replace("\"", ""));
            });
            String version = release.getProperty("JAVA_VERSION", "");
            return new Jdk(path.toRealPath(), version, release.getProperty("IMPLEMENTOR", "unknown"));
        } catch (IOException e) {
            return null;
        }
    }
}
