// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;

/** A JDK to measure on. The label is its version, and its vendor where two have the same. */
record Jdk(Path home, String version, String vendor, String label) {
    private static final Path USUAL = Path.of("/usr/lib/jvm");
    private static final int LEAST_FEATURE = 17;

    /** Where getThreadUserTime no longer reads text from /proc: JDK-8372584 and its backport. */
    private static final Runtime.Version FIRST_WITH_FAST_USER = Runtime.Version.parse("25.0.5");

    static List<Jdk> find() throws IOException {
        if (!Files.isDirectory(USUAL)) return List.of();
        List<Path> homes;
        try (Stream<Path> entries = Files.list(USUAL)) {
            homes = entries.sorted().toList();
        }
        List<Jdk> found = new ArrayList<>();
        Set<Path> seen = new HashSet<>();
        for (Path home : homes) {
            if (!Files.isExecutable(home.resolve("bin/java")) || !seen.add(home.toRealPath())) continue;
            if (!Files.isReadable(home.resolve("release"))) continue;
            Jdk jdk = of(home);
            if (jdk.feature() >= LEAST_FEATURE) found.add(jdk);
        }
        return labelled(found);
    }

    static List<Jdk> named(List<Path> homes) throws IOException {
        List<Jdk> jdks = new ArrayList<>();
        for (Path home : homes) {
            if (!Files.isExecutable(home.resolve("bin/java")) || !Files.isReadable(home.resolve("release"))) {
                throw new IllegalArgumentException(
                        "jdk: " + home + " is no JDK: name a folder that has bin/java and release");
            }
            Jdk jdk = of(home);
            if (jdk.feature() < LEAST_FEATURE) {
                throw new IllegalArgumentException(
                        "jdk: " + home + " is version " + jdk.version + ": name a JDK 17 or later");
            }
            jdks.add(jdk);
        }
        return labelled(jdks);
    }

    /** From the "release" file that every JDK has: a text without a JVM's start. */
    private static Jdk of(Path home) throws IOException {
        Properties release = new Properties();
        try (Reader in = Files.newBufferedReader(home.resolve("release"))) {
            release.load(in);
        }
        String version = unquoted(release.getProperty("JAVA_VERSION", "0"));
        return new Jdk(home.toRealPath(), version, unquoted(release.getProperty("IMPLEMENTOR", "unknown")), version);
    }

    private static String unquoted(String text) {
        return text.replace("\"", "");
    }

    private static List<Jdk> labelled(List<Jdk> jdks) {
        Set<String> labels = new HashSet<>();
        List<Jdk> labelled = new ArrayList<>();
        for (Jdk jdk : jdks) {
            String label = jdk.version;
            if (!labels.add(label)) label += " " + jdk.vendor;
            for (int n = 2; !label.equals(jdk.version) && !labels.add(label); n++) {
                label = jdk.version + " " + jdk.vendor + " " + n;
            }
            labelled.add(new Jdk(jdk.home, jdk.version, jdk.vendor, label));
        }
        return labelled;
    }

    Path java() {
        return home.resolve("bin/java");
    }

    private int feature() {
        return Integer.parseInt(version.replaceFirst("\\D.*", ""));
    }

    static boolean readsUserTimeAsText(String version) {
        String plain = version.replaceFirst("[^\\d.].*", "");
        return Runtime.Version.parse(plain).compareToIgnoreOptional(FIRST_WITH_FAST_USER) < 0;
    }
}
