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

/** Benchmarks that JMH runs one after the other with the same options. */
record BenchmarkGroup(Jdk jdk, String backend, JmhSettings settings, List<Contender> contenders) {
    /** JVM startup and JMH setup, for the estimate of the time left. */
    private static final long START_MILLIS = 550;

    long millis() {
        return contenders.size() * (settings.millis() + settings.forks() * START_MILLIS) + START_MILLIS;
    }

    String text() {
        return "JDK " + jdk.version() + ", backend " + backend + ": " + settings.description();
    }

    Collection<RunResult> run(JmhOutput output, Path agent) throws IOException, RunnerException {
        List<String> appended = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED"));
        if (contenders.get(0).isUnderAgent()) appended.add("-javaagent:" + agent);
        Path java = backend.equals(BackendProbe.OWN_RSEQ) ? withTunable(jdk.java()) : jdk.java();
        ChainedOptionsBuilder options = new OptionsBuilder()
                .mode(settings.sampled() ? Mode.SampleTime : Mode.AverageTime)
                .timeUnit(settings.unit())
                .threads(settings.threads())
                .warmupIterations(settings.warmUp().iterations())
                .warmupTime(TimeValue.milliseconds(settings.warmUp().millis()))
                .measurementIterations(settings.measured().iterations())
                .measurementTime(TimeValue.milliseconds(settings.measured().millis()))
                .forks(settings.forks())
                .jvm(java.toString())
                .jvmArgs("-Dtaskclock.backend=" + backend)
                .jvmArgsAppend(appended.toArray(String[]::new))
                .shouldFailOnError(false);
        for (Contender contender : contenders) options.include("^" + Pattern.quote(contender.benchmark()) + "$");
        return new Runner(options.build(), output.format()).run();
    }

    /**
     * Creates a script that sets GLIBC_TUNABLES and runs java, because JMH cannot set environment variables for its
     * JVMs.
     */
    private static Path withTunable(Path java) throws IOException {
        Path script = Files.createTempFile(
                "taskclock-java",
                ".sh",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        script.toFile().deleteOnExit();
        Files.writeString(
                script,
                "#!/bin/sh\nexport GLIBC_TUNABLES=\"${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}" + BackendProbe.TUNABLE
                        + "\"\nexec '" + java + "' \"$@\"\n");
        return script;
    }

    /** Returns the results as JMH formats them. */
    static String format(Collection<RunResult> results, ResultFormatType type) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8)) {
            ResultFormatFactory.getInstance(type, out).writeOut(results);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
