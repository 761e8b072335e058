// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.ClockStatus;

/** {@code taskclock doctor}. */
@Tag("slow17")
class DoctorTest {
    /** Measures for a quarter of the time. */
    static final String FAST_OPTION = "-Dtaskclock.doctor.fraction=4";

    /** Medians and ratios of at least 1 are rounded to three decimals. */
    private static final double ROUNDING = 0.002;

    private static final ClockStatus.Calibration FAST = new ClockStatus.Calibration(2_595_124_000L, 5_123_000_000L, 2);

    @Test
    void shouldReportAsJson() throws Exception {
        JsonObject json = json(CliResult.run("doctor", "--json"));
        assertThat(json.get("backend").getAsString()).isEqualTo(bestUsable(json));
        assertThat(json.get("accounting").getAsString()).isIn("tick", "precise", "unknown");
        assertThat(json.get("tickNanos").getAsLong()).isNotZero();
        for (String field : List.of("kernel", "libc", "jdk", "cpu", "clockSource")) {
            assertThat(json.get(field).getAsString()).as(field).isNotBlank();
        }
        assertThat(json.get("backends").getAsJsonArray()).isNotEmpty().allSatisfy(backend -> {
            assertThat(backend.getAsJsonObject().get("name").getAsString()).isNotBlank();
            assertThat(backend.getAsJsonObject().get("usable").isJsonPrimitive())
                    .isTrue();
            assertThat(backend.getAsJsonObject().get("reason").getAsString()).isNotBlank();
        });
        assertCalibration(json);
        assertContract(json);
        assertReads(json);
    }

    private static void assertCalibration(JsonObject json) {
        if (!json.get("backend").getAsString().startsWith("rseq")) {
            assertThat(json.get("calibration").isJsonNull()).isTrue();
            return;
        }
        JsonObject calibration = json.getAsJsonObject("calibration");
        assertThat(calibration.get("counterHertz").getAsLong()).isGreaterThan(1_000_000);
        // The counter is measured every second while doctor runs. A reset restarts the measurement.
        long minNanos = calibration.get("resets").getAsLong() == 0 ? 500_000_000 : 1;
        assertThat(calibration.get("overNanos").getAsLong()).isGreaterThanOrEqualTo(minNanos);
        JsonObject accuracy = json.getAsJsonObject("accuracy");
        assertThat(accuracy.get("budgetNanos").getAsLong()).isEqualTo(100);
        assertThat(accuracy.get("lifeNanos").getAsLong()).isBetween(0L, 10_000_000L);
        assertThat(accuracy.get("observedNanos").getAsLong()).isPositive();
    }

    @Test
    void shouldFormatTheCalibration() {
        String end = System.lineSeparator();
        assertThat(DoctorText.calibration(new ClockStatus.Calibration(2_595_124_000L, 5_123_000_000L, 2)))
                .isEqualTo(
                        "counter       2,595.124 MHz (steps of 0.4 ns), measured over 5,123 ms, reset 2 times" + end);
        assertThat(DoctorText.calibration(new ClockStatus.Calibration(-1, -1, 0)))
                .isEqualTo("counter       not measured yet" + end);
        assertThat(DoctorText.calibration(null)).isEmpty();
    }

    @Test
    void shouldFormatTheAccuracy() {
        String end = System.lineSeparator();
        assertThat(DoctorText.accuracy(new ClockStatus.Accuracy(100, 2_000_000, 1_234_000_000L, 61_000), FAST))
                .isEqualTo("accuracy      at most 100 ns ahead on average; asks the kernel again after 2.000 ms" + end
                        + "observed      0.061 ms lost to the hypervisor or interrupts in 1,234 ms of CPU time"
                        + end);
        assertThat(DoctorText.accuracy(new ClockStatus.Accuracy(100, 0, 0, 0), FAST))
                .isEqualTo("accuracy      at most 100 ns ahead on average; asks the kernel at each reading, because too"
                        + " much time is lost here" + end + "observed      nothing yet" + end);
        assertThat(DoctorText.accuracy(
                        new ClockStatus.Accuracy(15, 0, 0, 0), new ClockStatus.Calibration(25_000_000, -1, 0)))
                .startsWith("accuracy      at most 15 ns ahead on average; asks the kernel at each reading, because the"
                        + " counter's steps are too long for this" + end);
        assertThat(DoctorText.accuracy(null, null)).isEmpty();
    }

    private static String bestUsable(JsonObject json) {
        for (JsonElement backend : json.getAsJsonArray("backends")) {
            if (backend.getAsJsonObject().get("usable").getAsBoolean()) {
                return backend.getAsJsonObject().get("name").getAsString();
            }
        }
        throw new AssertionError("no usable backend in " + json);
    }

    private static void assertContract(JsonObject json) {
        JsonObject contract = json.getAsJsonObject("contract");
        assertThat(contract.get("holds").getAsBoolean()).isTrue();
        assertThat(contract.get("cpuErrorP9999Nanos").getAsLong())
                .isBetween(0L, contract.get("cpuErrorMaxNanos").getAsLong());
        assertThat(contract.get("cpuErrorMeanNanos").getAsDouble())
                .isBetween(0.0, contract.get("cpuErrorMaxNanos").getAsDouble());
        boolean readsCounter = json.get("backend").getAsString().startsWith("rseq");
        assertThat(contract.get("cpuBudgetNanos").getAsLong()).isEqualTo(readsCounter ? 100 : 0);
        assertThat(json.get("accuracy").isJsonNull()).isNotEqualTo(readsCounter);
        assertThat(contract.get("sumErrors").getAsLong()).isZero();
        assertThat(contract.get("backwardSteps").getAsLong()).isZero();
        assertThat(contract.get("blockedNanosCounted").getAsLong()).isNotNegative();
        assertThat(contract.get("readings").getAsLong()).isPositive();
        assertThat(contract.get("waits").getAsLong()).isPositive();
    }

    private static void assertReads(JsonObject json) {
        assertThat(names(json))
                .contains("System.nanoTime", "TaskClock.cpuNanos", "TaskClock.userNanos", "TaskClock.systemNanos")
                .contains("TaskClock.now", "TaskClock.read", "ThreadClock.cpuNanos", "ThreadClock.now")
                .contains("ProcessClock.cpuNanos", "clock_gettime in C", "getrusage")
                .contains("user by constant id", "user by own id, bits flipped", "user by /proc text")
                .contains("view getCurrentThreadCpuTime", "view getCurrentThreadUserTime")
                .contains("stock getCurrentThreadCpuTime", "stock getCurrentThreadUserTime");
        double stockCpu = median(json, "stock getCurrentThreadCpuTime");
        double stockUser = median(json, "stock getCurrentThreadUserTime");
        for (JsonElement element : json.getAsJsonArray("reads")) {
            JsonObject read = element.getAsJsonObject();
            assertThat(read.has("ratioToStock")).isTrue();
            if (!read.get("reason").isJsonNull()) continue;
            double median = read.get("medianNanos").getAsDouble();
            assertThat(median).isPositive();
            assertThat(read.get("p99Nanos").getAsDouble())
                    .isBetween(median, read.get("maxNanos").getAsDouble());
            String stock = read.get("stock").getAsString();
            if (stock.equals("none")) continue;
            double ratio = (stock.equals("cpu") ? stockCpu : stockUser) / median;
            assertThat(read.get("ratioToStock").getAsDouble()).isCloseTo(ratio, within(ROUNDING));
        }
    }

    @Test
    void shouldTellWhetherTheKernelCanMeasureUserAndSystemTime() {
        boolean canMeasure = Files.exists(Path.of("/sys/devices/system/cpu/nohz_full"));
        assertThat(DoctorText.accounting(ClockStatus.Accounting.TICK))
                .endsWith(canMeasure ? "if it is booted with nohz_full=" : "this kernel cannot measure them");
    }

    @Test
    void shouldPrintWhetherContextsArePublishedIfTheyAreRequested() {
        assertThat(DoctorText.context("off")).isEmpty();
        assertThat(DoctorText.context("off: it is taken"))
                .isEqualTo("context       off: it is taken" + System.lineSeparator());
    }

    @Test
    void shouldPrintEverySection() throws Exception {
        CliResult child = CliResult.run(FAST_OPTION, "-Dtaskclock.backend=mxbean", "doctor");
        assertThat(child.exitCode()).as(child.out()).isZero();
        assertThat(child.err()).isEmpty();
        assertThat(child.out())
                .contains("kernel ", "libc ", "JDK ", "CPU ", "clock source ", "tick ", "accounting ")
                .containsPattern("(?m)^mxbean +in use +\\S")
                .containsPattern("(?m)^syscall +(usable|not usable) +\\S")
                .containsPattern("(?m)^TaskClock\\.cpuNanos( +[0-9.,]+){4}$")
                .contains("contract of backend mxbean")
                .doesNotContainPattern("(?m)^counter ")
                .containsPattern("(?m)^split +(no bound|not checked) ")
                .contains("the contract holds");
        assertThat(child.out().lines()).allSatisfy(line -> assertThat(line).doesNotEndWith(" "));
    }

    @Test
    void shouldReportUnavailableReadsWithoutTheLibrary() throws Exception {
        JsonObject json = json(CliResult.run(FAST_OPTION, "-Dtaskclock.library.path=/nonexistent", "doctor", "--json"));
        assertThat(json.get("backend").getAsString()).isEqualTo("mxbean");
        JsonObject missing = read(json, "user by constant id");
        assertThat(missing.get("medianNanos").isJsonNull()).isTrue();
        assertThat(missing.get("ratioToStock").isJsonNull()).isTrue();
        assertThat(missing.get("reason").getAsString()).isNotBlank();
        JsonObject contract = json.getAsJsonObject("contract");
        assertThat(contract.get("reference").getAsString()).isEqualTo("ThreadMXBean");
        assertThat(contract.get("splitErrorMaxNanos").isJsonNull()).isTrue();
    }

    private static JsonObject json(CliResult child) {
        assertThat(child.exitCode()).as(child.out()).isZero();
        assertThat(child.err()).isEmpty();
        return JsonParser.parseString(child.out()).getAsJsonObject();
    }

    private static List<String> names(JsonObject json) {
        List<String> names = new ArrayList<>();
        for (JsonElement read : json.getAsJsonArray("reads")) {
            names.add(read.getAsJsonObject().get("name").getAsString());
        }
        return names;
    }

    private static JsonObject read(JsonObject json, String name) {
        return json.getAsJsonArray("reads").get(names(json).indexOf(name)).getAsJsonObject();
    }

    private static double median(JsonObject json, String name) {
        return read(json, name).get("medianNanos").getAsDouble();
    }
}
