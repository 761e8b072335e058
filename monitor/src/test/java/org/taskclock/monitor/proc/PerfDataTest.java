// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.testing.LoadJvm;
import org.taskclock.testing.LoadProgram;

/** Performance data of real JVMs, and of files made for this test. */
class PerfDataTest {
    private static final long MEGA = 1 << 20;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC"})
    void shouldReadHeapAndPauses(String collector) throws Exception {
        try (LoadJvm load = LoadJvm.start(collector, "garbage");
                HeapMonitor heap = new HeapMonitor(load.pid())) {
            long start = System.nanoTime();
            long pauses = 0;
            long pauseNanos = 0;
            HeapUsage usage = heap.next(Long.MAX_VALUE);
            for (int i = 0; i < 100 && pauses < 3; i++) {
                Thread.sleep(100);
                usage = heap.next(Long.MAX_VALUE);
                pauses += usage.gcPauses();
                pauseNanos += usage.gcPauseNanos();
            }
            assertThat(pauses).isGreaterThanOrEqualTo(3);
            assertThat(pauseNanos).isBetween(1_000L, System.nanoTime() - start);
            // -Xmx128m; the serial and parallel collectors do not count one of the two survivor spaces.
            assertThat(usage.maxBytes()).isBetween(100 * MEGA, 130 * MEGA);
            assertThat(usage.committedBytes()).isBetween(MEGA, usage.maxBytes());
            assertThat(usage.usedBytes()).isBetween(MEGA, usage.committedBytes());
        }
    }

    @Test
    @Timeout(60)
    @EnabledForJreRange(minVersion = 22, disabledReason = "Earlier JVMs do not count it")
    void shouldReadTheCpuTimeOfCollections() throws Exception {
        try (LoadJvm load = LoadJvm.start("-XX:+UseG1GC", "garbage");
                HeapMonitor heap = new HeapMonitor(load.pid())) {
            heap.refresh();
            JvmCounters start = heap.counters();
            long begin = System.nanoTime();
            long counted = 0;
            while (counted == 0) {
                Thread.sleep(100);
                heap.refresh();
                counted = heap.counters().since(start).gcCpuNanos();
            }
            assertThat(counted).isBetween(1_000L, System.nanoTime() - begin);
        }
    }

    @Test
    @Timeout(60)
    void shouldNotReportLongerPausesThanTheInterval() throws Exception {
        try (LoadJvm load = LoadJvm.start("-XX:+UseSerialGC", "garbage");
                HeapMonitor heap = new HeapMonitor(load.pid())) {
            long longest = 0;
            while (longest == 0) {
                HeapUsage usage = heap.next(1);
                if (usage != null) longest = usage.gcPauseNanos();
                Thread.sleep(10);
            }
            assertThat(longest).as("most of the pause was before the interval").isEqualTo(1);
        }
    }

    /** A JVM creates its counters some tenths of a second after its start. */
    @Test
    @Timeout(60)
    void shouldReadTheHeapOfAJvmThatIsStarting() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classes = LoadProgram.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath();
        String[] shell = {"sh", "-c", "read start; exec \"$0\" -XX:+UseG1GC -Xmx64m -cp \"$1\" \"$2\" idle"};
        Process process =
                new ProcessBuilder(shell[0], shell[1], shell[2], java, classes, LoadProgram.class.getName()).start();
        try (HeapMonitor heap = new HeapMonitor(process.pid())) {
            assertThat(heap.next(Long.MAX_VALUE)).describedAs("not a JVM yet").isNull();
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            HeapUsage usage = heap.next(Long.MAX_VALUE);
            while (usage == null) {
                Thread.sleep(1);
                usage = heap.next(Long.MAX_VALUE);
            }
            assertThat(usage.maxBytes()).isEqualTo(64 * MEGA);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldHandleJvmsWithoutData() throws Exception {
        try (LoadJvm load = LoadJvm.start("-XX:-UsePerfData", "idle");
                HeapMonitor heap = new HeapMonitor(load.pid())) {
            assertThat(heap.next(Long.MAX_VALUE)).isNull();
            assertThat(heap.contendedLockAttempts()).isEqualTo(-1);
        }
        assertThat(PerfData.of(1 << 29)).describedAs("there is no such process").isNull();
    }

    private static byte[] file(ByteOrder order) {
        ByteBuffer file = ByteBuffer.allocate(32 + 2 * 64);
        file.putInt(0xcafec0c0);
        file.put((byte) (order == ByteOrder.BIG_ENDIAN ? 0 : 1)).put(new byte[] {2, 0, 1});
        file.order(order).putInt(160).putInt(0).putLong(0).putInt(32).putInt(2);
        entry(file, "sun.gc.test", 0, 'J').putLong(file.position() - 20 + 48, 4_711);
        file.position(32 + 64);
        entry(file, "sun.gc.name", 16, 'B');
        file.position(32 + 64 + 48).put("Copy".getBytes(StandardCharsets.UTF_8));
        return file.array();
    }

    /** Writes the fixed part of an entry, and its name. */
    private static ByteBuffer entry(ByteBuffer file, String name, int vectorLength, char type) {
        file.putInt(64)
                .putInt(20)
                .putInt(vectorLength)
                .put((byte) type)
                .put(new byte[3])
                .putInt(48);
        file.put(file.position(), name.getBytes(StandardCharsets.UTF_8));
        return file;
    }

    @Test
    void shouldReadBothByteOrders() throws IOException {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            try (PerfData data = PerfData.open(Files.write(folder.resolve(order.toString()), file(order)))) {
                assertThat(data.value("sun.gc.test")).isEqualTo(4_711);
                assertThat(data.text("sun.gc.name")).isEqualTo("Copy");
                assertThat(data.value("sun.gc.name")).isEqualTo(-1);
                assertThat(data.text("none")).isEmpty();
            }
        }
    }

    @Test
    void shouldReadCountersThatTheJvmAddsLater() throws IOException {
        byte[] all = file(ByteOrder.LITTLE_ENDIAN);
        byte[] one = all.clone();
        one[28] = 1; // the number of entries
        Path path = Files.write(folder.resolve("growing"), one);
        try (PerfData data = PerfData.open(path)) {
            assertThat(data.text("sun.gc.name")).isEmpty();
            Files.write(path, all);
            assertThat(data.refresh()).isTrue();
            assertThat(data.text("sun.gc.name")).isEqualTo("Copy");
        }
    }

    @Test
    void shouldNotReadDataThatTheJvmDoesNotYetOffer() throws IOException {
        byte[] all = file(ByteOrder.LITTLE_ENDIAN);
        all[7] = 0; // not accessible
        assertThat(PerfData.open(Files.write(folder.resolve("starting"), all))).isNull();
    }

    @Test
    void shouldNotMistakeAVectorForANumber() throws IOException {
        byte[] all = file(ByteOrder.LITTLE_ENDIAN);
        all[32 + 8] = 1; // the length of the vector in the first entry
        try (PerfData data = PerfData.open(Files.write(folder.resolve("vector"), all))) {
            assertThat(data.value("sun.gc.test")).isEqualTo(-1);
        }
    }

    @Test
    void shouldSurviveDamagedFiles() throws IOException {
        Path path = folder.resolve("4711");
        assertThat(PerfData.open(Files.write(path, new byte[0]))).isNull();
        assertThat(PerfData.open(Files.write(path, new byte[200]))).isNull();
        Random random = new Random(7);
        int opened = 0;
        for (int i = 0; i < 2_000; i++) {
            byte[] bytes = file(ByteOrder.LITTLE_ENDIAN);
            for (int k = 0; k < 3; k++) bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            int length = random.nextInt(bytes.length + 1);
            Files.write(path, i % 2 == 0 ? bytes : java.util.Arrays.copyOf(bytes, length));
            try (PerfData data = PerfData.open(path)) {
                if (data == null) continue;
                opened++;
                assertThat(data.value("sun.gc.none")).isEqualTo(-1);
            }
        }
        assertThat(opened).isPositive();
    }

    /** A hostile program could otherwise make a reader take minutes and all memory. */
    @Test
    void shouldRejectEntriesThatOverlap() throws IOException {
        ByteBuffer file = ByteBuffer.allocate(1 << 20);
        file.putInt(0xcafec0c0).put(new byte[] {1, 2, 0, 1}).order(ByteOrder.LITTLE_ENDIAN);
        int count = 10_000;
        file.position(24).putInt(32).putInt(count);
        for (int i = 0; i < count; i++)
            file.position(32 + 24 * i)
                    .putInt(24)
                    .putInt(20)
                    .putInt(file.capacity() / 2) // the length of the text
                    .put((byte) 'B')
                    .put(new byte[3])
                    .putInt(20);
        assertThat(PerfData.open(Files.write(folder.resolve("overlap"), file.array())))
                .isNull();
    }

    @Test
    void shouldRejectValuesOutsideOfTheirEntries() throws IOException {
        for (int offset : new int[] {-1, -100, 65, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            byte[] all = file(ByteOrder.LITTLE_ENDIAN);
            ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).putInt(32 + 16, offset);
            try (PerfData data = PerfData.open(Files.write(folder.resolve("outside"), all))) {
                assertThat(data).as("%d", offset).isNull();
            }
        }
    }

    @Test
    void shouldNotOpenLinksAndPipes() throws Exception {
        Path real = Files.write(folder.resolve("real"), file(ByteOrder.LITTLE_ENDIAN));
        assertThat(PerfData.open(Files.createSymbolicLink(folder.resolve("link"), real)))
                .isNull();
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        assertThat(PerfData.open(pipe)).isNull(); // would wait for a writer
    }
}
