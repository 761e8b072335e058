// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.TestJvm;

/** The extension in OpenTelemetry's Java agent, in child JVMs that export to a receiver in this one. */
class ExtensionTest {
    private static final boolean HAS_VIRTUAL_THREADS = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;

    private static String run(OtlpReceiver receiver, String... options) throws Exception {
        return run(receiver, ExtensionProgram.class, options);
    }

    private static String run(OtlpReceiver receiver, Class<?> program, String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of(
                "-javaagent:" + System.getProperty("opentelemetry.jar"),
                "-Dotel.javaagent.extensions=" + System.getProperty("extension.jar"),
                "-Dotel.exporter.otlp.endpoint=" + receiver.endpoint(),
                "-Dotel.exporter.otlp.protocol=http/protobuf",
                "-Dotel.traces.exporter=none",
                "-Dotel.logs.exporter=none",
                "-Dotel.metric.export.interval=300",
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC"));
        if (HAS_VIRTUAL_THREADS) all.add("--enable-native-access=ALL-UNNAMED");
        all.addAll(List.of(options));
        return TestJvm.run(all, program, "3000");
    }

    @Test
    void shouldReportTheProgramTogetherWithTheAgentOfTaskClock() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            String output = HAS_VIRTUAL_THREADS ? run(receiver, TestJvm.agent("yield=count")) : run(receiver);
            assertThat(output).doesNotContain("TaskClock", "Exception");
            assertThat(receiver.values("taskclock.thread.cpu.time"))
                    .as(output)
                    .containsKeys("user,java,worker-#", "user,java,main", "system,vm,VM Thread");
            assertThat(receiver.values("taskclock.thread.cpu.time").get("user,java,worker-#"))
                    .isGreaterThan(0.01);
            // These need the native library.
            assertThat(receiver.values("taskclock.process.cpu.time")).containsOnlyKeys("user", "system");
            assertThat(receiver.values("taskclock.thread.wait.time")).isNotEmpty();
            // The program has a copy of the library of its own.
            assertThat(receiver.values("taskclock.account.sections").get("acme,tenant"))
                    .isPositive();
            HistogramDataPoint sections = receiver.metrics()
                    .get("taskclock.account.section.cpu.time")
                    .getHistogram()
                    .getDataPoints(0);
            assertThat(sections.getCount()).isPositive();
            assertThat(sections.getExplicitBoundsCount()).isEqualTo(12);
            assertThat(receiver.version()).matches("[0-9.]+.*");
            // Each has a name of its own.
            assertThat(receiver.metrics()).containsKey("taskclock.threads").doesNotContainKey("jvm.thread.count");
            assertThat(receiver.others()).containsKey("jvm.thread.count");
            if (!HAS_VIRTUAL_THREADS) return;
            assertThat(receiver.values("taskclock.thread.cpu.time").get("user,virtual,request-#"))
                    .isGreaterThan(0.01);
            assertThat(receiver.values("taskclock.thread.yield.count"))
                    .containsEntry("virtual,request-#", 1.0)
                    .containsEntry("java,worker-#", 1.0);
        }
    }

    @Test
    @Tag("slow17")
    void shouldFollowTheProperties() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            run(receiver, "-Dotel.instrumentation.taskclock.max-pools=14", "-Dtaskclock.backend=mxbean");
            assertThat(receiver.values("taskclock.threads")).isNotEmpty().hasSizeLessThanOrEqualTo(14);
            assertThat(receiver.values("taskclock.process.cpu.time")).isEmpty();
        }
    }

    @Test
    @Tag("slow")
    void shouldSayWhyItReportsNothing() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            run(receiver, "-Dotel.instrumentation.taskclock.enabled=false");
            assertThat(receiver.metrics()).isEmpty();
            assertThat(receiver.others()).isNotEmpty();
            String output = run(receiver, "-Dotel.instrumentation.taskclock.max-pools=2");
            assertThat(output)
                    .contains("TaskClock reports no metrics: java.lang.IllegalArgumentException: limit of 2 pools");
            assertThat(receiver.metrics()).isEmpty();
        }
    }

    private static double number(String output, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(output);
        assertThat(matcher.find()).as("%s in %s", pattern, output).isTrue();
        return Double.parseDouble(matcher.group(1));
    }

    @Test
    @Tag("slow17")
    void shouldAddCpuTimesToSpans() throws Exception {
        String output = TestJvm.run(
                List.of(
                        "-javaagent:" + System.getProperty("opentelemetry.jar"),
                        "-Dotel.javaagent.extensions=" + System.getProperty("extension.jar"),
                        "-Dotel.instrumentation.taskclock.span-cpu-time.enabled=true",
                        "-Dotel.traces.exporter=console",
                        "-Dotel.metrics.exporter=none",
                        "-Dotel.logs.exporter=none",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC"),
                SpanProgram.class);
        for (String span : List.of("orders", "part")) {
            double seconds = number(output, "'" + span + "' : .*thread\\.cpu\\.time=([^,}]+)");
            double expected = number(output, span + " (\\d+) ns") / 1e9;
            assertThat(seconds).as(output).isBetween(0.95 * expected - 0.003, 1.25 * expected + 0.04);
        }
    }

    /** With TaskClock's agent on JDK 25, whose handler works on a virtual thread, too. No request is sampled. */
    @Test
    void shouldCountRequestsByRoute() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            String property = "-Dotel.instrumentation.taskclock.span-accounts.enabled=true";
            String sampler = "-Dotel.traces.sampler=parentbased_always_off";
            String output = HAS_VIRTUAL_THREADS
                    ? run(receiver, EndpointProgram.class, property, sampler, TestJvm.agent("yield=count"))
                    : run(receiver, EndpointProgram.class, property, sampler);
            double handlers = number(output, "handlers (\\d+) ns") / 1e9;
            double row = number(output, "/shop/burn/\\{ms\\} (\\d+) ns, 10 sections, 0 uncounted") / 1e9;
            // Spring MVC and Tomcat use CPU time for the first requests, too.
            assertThat(row).as(output).isBetween(0.95 * handlers - 0.003, 1.25 * handlers + 1);
            Map<String, Double> exported = receiver.values("taskclock.account.cpu.time");
            assertThat(exported).as(output).containsKey("user,(unaccounted),endpoint");
            assertThat(exported.get("user,/shop/burn/{ms},endpoint") + exported.get("system,/shop/burn/{ms},endpoint"))
                    .isCloseTo(row, within(1e-6));
        }
    }
}
