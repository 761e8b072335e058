// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import javax.management.ObjectName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class EngineSoakTest {
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final String AGENT = "target/taskclock-agent.jar";

    @TempDir
    private Path directory;

    /** The bean that the programs in the directory integration register. */
    public interface LoadMXBean {
        long getOperations();

        long getErrors();

        String getFirstError();

        Map<String, String> getAnswers();
    }

    /** An engine that counts. With the argument "dishonest", its answer depends on the agent. */
    static final class Engine implements LoadMXBean {
        private final boolean isHonest;
        private volatile long operations;

        private Engine(boolean isHonest) {
            this.isHonest = isHonest;
        }

        public static void main(String[] args) throws Exception {
            Engine engine = new Engine(!List.of(args).contains("dishonest"));
            ManagementFactory.getPlatformMBeanServer()
                    .registerMBean(engine, new ObjectName("org.taskclock.integration:type=Load"));
            Thread worker = new Thread(engine::work, "worker");
            worker.setDaemon(true);
            worker.start();
            while (System.in.read() >= 0) {}
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
        private void work() {
            while (true) operations++;
        }

        @Override
        public long getOperations() {
            return operations;
        }

        @Override
        public long getErrors() {
            return 0;
        }

        @Override
        public String getFirstError() {
            return "";
        }

        @Override
        public Map<String, String> getAnswers() {
            boolean withAgent = System.getProperty("taskclock.agent") != null;
            return Map.of("question", isHonest || !withAgent ? "answer" : "another");
        }
    }

    private JsonObject soak(int exitCode, String engineArgument, String... options)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(JAVA, "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(EngineSoak.class.getName(), "--name", "sample", "--java", JAVA, "--agent", AGENT));
        command.addAll(List.of("--out", directory.toString(), "--reference-seconds", "0", "--warm-up", "0"));
        command.addAll(List.of("--commit", "0123abc"));
        command.addAll(List.of(options));
        command.addAll(List.of("--", "-Xmx64m", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(Engine.class.getName(), engineArgument));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(exitCode);
        return JsonParser.parseString(Files.readString(directory.resolve("sample.json")))
                .getAsJsonObject();
    }

    @Test
    void shouldDisturbAnEngineWithoutTheAgent() throws IOException, InterruptedException {
        JsonObject result = soak(0, "honest", "--control", "--minutes", "0.3", "--recording-seconds", "1");
        assertThat(result.getAsJsonArray("failures")).isEmpty();
        assertThat(result.get("comparison")).isNull();
        Map<String, JsonElement> actions =
                result.getAsJsonObject("disturbed").getAsJsonObject("actions").asMap();
        assertThat(actions.keySet())
                .contains("thread dump", "heap dump", "flight recording", "async-profiler")
                .doesNotContain("attached a copy", "detached and attached", "kill switch thrown");
        assertThat(directory.resolve("sample.md")).content().contains("Disturbed run without the agent");
        assertThat(directory.resolve("sample-disturbed.log")).content().doesNotContain("taskclock");
    }

    @Test
    void shouldDisturbAnEngineInEveryWay() throws IOException, InterruptedException {
        JsonObject result = soak(0, "honest", "--minutes", "0.45", "--recording-seconds", "2", "--groups", "0");
        assertThat(result.getAsJsonArray("failures")).isEmpty();
        JsonObject disturbed = result.getAsJsonObject("disturbed");
        Map<String, JsonElement> actions = disturbed.getAsJsonObject("actions").asMap();
        assertThat(actions).hasSizeGreaterThanOrEqualTo(9).containsKeys("flight recording", "heap dump");
        assertThat(actions.values()).allMatch(count -> count.getAsInt() > 0);
        assertThat(disturbed.get("operations").getAsLong()).isPositive();
        assertThat(disturbed.getAsJsonObject("growth").keySet()).contains("threads", "loaded classes");
        assertThat(directory.resolve("sample.md"))
                .content()
                .contains("TaskClock 0123abc (`threadmxbean=on,", "`), JDK ", "No failures.", "| heap dump |");
    }

    @Test
    void shouldComparePairsOfJvms() throws IOException, InterruptedException {
        String[] options = {"--minutes", "0", "--groups", "0", "--pairs", "2", "--pair-window", "1"};
        JsonObject pairs = soak(0, "honest", options).getAsJsonObject("pairs");
        assertThat(pairs.get("other").getAsString()).isEqualTo("without an agent");
        assertThat(pairs.get("perSecond").getAsDouble()).isPositive();
        assertThat(pairs.getAsJsonObject("cpu").get("error").getAsDouble()).isPositive();
        assertThat(directory.resolve("sample-pairs-without.log")).content().doesNotContain("taskclock");
        assertThat(directory.resolve("sample.md"))
                .content()
                .contains("one with the agent and one without an agent: 2 p");
    }

    @Test
    void shouldReportDifferentAnswersAndCompareThroughput() throws IOException, InterruptedException {
        JsonObject result = soak(1, "dishonest", "--minutes", "0", "--groups", "2", "--window", "1");
        assertThat(result.getAsJsonArray("failures")).hasSize(1);
        assertThat(result.getAsJsonArray("failures").get(0).getAsString())
                .isEqualTo("answers differ: {question=answer} without the agent, {question=another} with it");
        JsonObject comparison = result.getAsJsonObject("comparison");
        assertThat(comparison.get("perSecond").getAsDouble()).isPositive();
        assertThat(comparison.getAsJsonObject("throughput").get("error").getAsDouble())
                .isPositive();
        assertThat(comparison.getAsJsonObject("cpu").get("percent").getAsDouble())
                .isBetween(-90.0, 900.0);
    }

    @Test
    void shouldDetectGrowthOnlyAfterWarmUp() {
        assertThat(growth(n -> Math.min(n, 20)).isGood()).isTrue();
        assertThat(growth(n -> n / 4).isGood()).isFalse();
    }

    @Test
    void shouldDetectAHangingEngine() {
        List<EngineResources> samples = IntStream.range(0, 100)
                .mapToObj(n -> new EngineResources(5 * n, n < 30 ? n : Math.max(29, n - 40), 1, 1, 1, 1, 1, 1))
                .toList();
        // From the last new operation, in sample 29, to the next one, in sample 70.
        assertThat(EngineResources.longestPause(samples)).isEqualTo(5.0 * (70 - 29));
        assertThat(EngineResources.longestPause(samples.subList(0, 30))).isEqualTo(5);
    }

    private static EngineResources.Growth growth(IntToLongFunction threads) {
        List<EngineResources> samples = IntStream.range(0, 100)
                .mapToObj(n -> new EngineResources(n, n, threads.applyAsLong(n), 1, 1, 1, 1, 1))
                .toList();
        return EngineResources.growth(samples).get("threads");
    }
}
