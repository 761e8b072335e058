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

/** A JDK, as the file "release" in it says. */
record JavaHome(Path path, String version, String vendor) {
    private static final Path USUAL = Path.of("/usr/lib/jvm");
    private static final int OLDEST = 17;

    int feature() {
        return feature(version);
    }

    static int feature(String version) {
        String digits = version.replaceFirst("[^0-9].*", "");
        return digits.isEmpty() ? 0 : Integer.parseInt(digits);
    }

    Path java() {
        return path.resolve("bin/java");
    }

    /** Whether it has virtual threads. */
    boolean hasVirtual() {
        return feature() >= Virtual.SINCE;
    }

    /** Whether it has the flag -XX:+DontYieldALot. */
    boolean hasDontYieldALot() {
        return feature() < 24;
    }

    @Override
    public String toString() {
        return "JDK " + version;
    }

    /** Those named, or where none are: those in the usual folder, the oldest first; without one there, the JDK of this JVM. */
    static List<JavaHome> find(List<Path> named) throws LabException {
        List<JavaHome> homes = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        for (Path path : named) {
            JavaHome home = of(path);
            if (home == null) throw new LabException("--jdk " + path + ": no JDK: name a folder that has bin/java");
            if (home.feature() < OLDEST) {
                throw new LabException("--jdk " + path + ": " + home + ": name a JDK " + OLDEST + " or later");
            }
            if (seen.add(home.path)) homes.add(home.distinct(homes));
        }
        if (!named.isEmpty()) return homes;
        try (Stream<Path> all = Files.isDirectory(USUAL) ? Files.list(USUAL) : Stream.empty()) {
            for (Path path : (Iterable<Path>) all::iterator) {
                JavaHome home = of(path);
                if (home != null && home.feature() >= OLDEST && seen.add(home.path)) homes.add(home.distinct(homes));
            }
        } catch (IOException e) {
            throw new LabException(USUAL + ": " + e.getMessage() + ": name a JDK by --jdk PATH");
        }
        if (homes.isEmpty()) homes.add(of(Path.of(System.getProperty("java.home"))));
        homes.sort(Comparator.comparingInt((JavaHome home) -> home.feature()).thenComparing(JavaHome::version));
        return homes;
    }

    /** With the vendor in its version, and a number if need be, where another one has the same. */
    private JavaHome distinct(List<JavaHome> others) {
        String name = version;
        for (int i = 1; has(others, name); i++) name = version + " " + vendor + (i == 1 ? "" : " " + i);
        return new JavaHome(path, name, vendor);
    }

    private static boolean has(List<JavaHome> homes, String version) {
        return homes.stream().anyMatch(home -> home.version.equals(version));
    }

    /** Null if there is none. */
    private static JavaHome of(Path path) {
        Path release = path.resolve("release");
        if (!Files.isExecutable(path.resolve("bin/java")) || !Files.isReadable(release)) return null;
        Properties facts = new Properties();
        try (Stream<String> lines = Files.lines(release)) {
            lines.filter(line -> line.contains("=")).forEach(line -> {
                String[] parts = line.split("=", 2);
                facts.put(parts[0], parts[1].replace("\"", ""));
            });
            String version = facts.getProperty("JAVA_VERSION", "");
            return new JavaHome(path.toRealPath(), version, facts.getProperty("IMPLEMENTOR", "unknown"));
        } catch (IOException e) {
            return null;
        }
    }
}
