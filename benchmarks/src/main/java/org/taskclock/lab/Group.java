// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Benchmarks that JMH runs with the same options, one after the other. */
record Group(Jdk jdk, String rung, Part part, List<Contender> contenders) {
    /** A JVM's start, and what JMH does before. Only the time left is reckoned by it. */
    private static final long START_MILLIS = 550;

    long millis() {
        return contenders.size() * (part.millis() + part.forks() * START_MILLIS) + START_MILLIS;
    }

    String text() {
        return "JDK " + jdk.version() + ", rung " + rung + ": " + part.how();
    }

    List<String> flags() {
        return List.of("-Dtaskclock.rung=" + rung, "--enable-native-access=ALL-UNNAMED");
    }

    Collection<RunResult> run(Watcher watcher, Path agent) throws IOException, RunnerException {
        List<String> appended = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED"));
        if (contenders.get(0).isUnderAgent()) appended.add("-javaagent:" + agent);
        Path java = rung.equals(Probe.OWN_RSEQ) ? withTunable(jdk.java()) : jdk.java();
        ChainedOptionsBuilder options = new OptionsBuilder()
                .mode(part.sampled() ? Mode.SampleTime : Mode.AverageTime)
                .timeUnit(part.unit())
                .threads(part.threads())
                .warmupIterations(part.warmUps())
                .warmupTime(TimeValue.milliseconds(part.warmUpMillis()))
                .measurementIterations(part.iterations())
                .measurementTime(TimeValue.milliseconds(part.iterationMillis()))
                .forks(part.forks())
                .jvm(java.toString())
                .jvmArgs("-Dtaskclock.rung=" + rung)
                .jvmArgsAppend(appended.toArray(String[]::new))
                .shouldFailOnError(false);
        for (Contender contender : contenders) options.include("^" + Pattern.quote(contender.benchmark()) + "$");
        return new Runner(options.build(), watcher).run();
    }

    /** JMH hands its own environment on, so that one more variable takes a command of its own. */
    private static Path withTunable(Path java) throws IOException {
        Path script = Files.createTempFile(
                "taskclock-java",
                ".sh",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        script.toFile().deleteOnExit();
        Files.writeString(
                script,
                "#!/bin/sh\nexport GLIBC_TUNABLES=\"${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}" + Probe.TUNABLE + "\"\nexec '"
                        + java + "' \"$@\"\n");
        return script;
    }

    /** As JMH writes it. */
    static String written(Collection<RunResult> results, ResultFormatType type) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8)) {
            ResultFormatFactory.getInstance(type, out).writeOut(results);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
