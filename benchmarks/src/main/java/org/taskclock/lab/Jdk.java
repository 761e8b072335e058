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

/** A JDK, as the file "release" in it says; the version tells it from others. */
record Jdk(Path home, String version, String vendor) {
    private static final Path USUAL = Path.of("/usr/lib/jvm");
    private static final int OLDEST = 17;

    /** Where getThreadUserTime no longer reads text from /proc: JDK-8372584 and its backport. */
    private static final Runtime.Version FIRST_WITH_FAST_USER = Runtime.Version.parse("25.0.5");

    int feature() {
        return feature(version);
    }

    static int feature(String version) {
        String digits = version.replaceFirst("[^0-9].*", "");
        return digits.isEmpty() ? 0 : Integer.parseInt(digits);
    }

    static boolean readsUserTimeAsText(String version) {
        String plain = version.replaceFirst("[^\\d.].*", "");
        return Runtime.Version.parse(plain).compareToIgnoreOptional(FIRST_WITH_FAST_USER) < 0;
    }

    Path java() {
        return home.resolve("bin/java");
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
    static List<Jdk> find(List<Path> named) throws LabException {
        List<Jdk> jdks = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        for (Path path : named) {
            Jdk jdk = of(path);
            if (jdk == null) throw new LabException("--jdk " + path + ": no JDK: name a folder that has bin/java");
            if (jdk.feature() < OLDEST) {
                throw new LabException("--jdk " + path + ": " + jdk + ": name a JDK " + OLDEST + " or later");
            }
            if (seen.add(jdk.home)) jdks.add(jdk.distinct(jdks));
        }
        if (!named.isEmpty()) return jdks;
        try (Stream<Path> all = Files.isDirectory(USUAL) ? Files.list(USUAL) : Stream.empty()) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Jdk jdk = of(path);
                if (jdk != null && jdk.feature() >= OLDEST && seen.add(jdk.home)) jdks.add(jdk.distinct(jdks));
            }
        } catch (IOException e) {
            throw new LabException(USUAL + ": " + e.getMessage() + ": name a JDK by --jdk PATH");
        }
        if (jdks.isEmpty()) jdks.add(of(Path.of(System.getProperty("java.home"))));
        jdks.sort(Comparator.comparingInt((Jdk jdk) -> jdk.feature()).thenComparing(Jdk::version));
        return jdks;
    }

    /** With the vendor in its version, and a number if need be, where another one has the same. */
    private Jdk distinct(List<Jdk> others) {
        String name = version;
        for (int i = 1; has(others, name); i++) name = version + " " + vendor + (i == 1 ? "" : " " + i);
        return new Jdk(home, name, vendor);
    }

    private static boolean has(List<Jdk> jdks, String version) {
        return jdks.stream().anyMatch(jdk -> jdk.version.equals(version));
    }

    /** Null if there is none. */
    private static Jdk of(Path path) {
        Path release = path.resolve("release");
        if (!Files.isExecutable(path.resolve("bin/java")) || !Files.isReadable(release)) return null;
        Properties facts = new Properties();
        try (Stream<String> lines = Files.lines(release)) {
            lines.filter(line -> line.contains("=")).forEach(line -> {
                String[] parts = line.split("=", 2);
                facts.put(parts[0], parts[1].replace("\"", ""));
            });
            String version = facts.getProperty("JAVA_VERSION", "");
            return new Jdk(path.toRealPath(), version, facts.getProperty("IMPLEMENTOR", "unknown"));
        } catch (IOException e) {
            return null;
        }
    }
}
