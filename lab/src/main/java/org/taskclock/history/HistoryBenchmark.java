// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.report.MachineInfo;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures what the history costs: CPU time of the thread that writes, memory, disk, and the time of queries. The
 * samples are those of a simulated day; writing them is not slowed down. In the package of the history, because the
 * clock of its writer thread cannot be simulated from outside.
 */
@Command(
        name = "history benchmark",
        mixinStandardHelpOptions = true,
        description = "Measure the CPU time, memory, disk space, and query times of the history.")
public final class HistoryBenchmark implements Callable<Integer> {
    private static final int SECONDS_PER_TRANSACTION = 2;
    private static final int DAY = 86_400;
    private static final int QUERIES = 9;

    /** How much of a core the pools of a JVM use on average, in 1/1000. */
    private static final int[] POOL_SHARES = {80, 30, 12, 5, 2, 1, 1, 1};

    private static final int[] THREAD_SHARES = {40, 30, 12, 5, 2};

    @Option(names = "--jvms", defaultValue = "50", description = "Number of JVMs (default: ${DEFAULT-VALUE}).")
    private int jvms;

    @Option(names = "--hours", defaultValue = "24", description = "Simulated hours (default: ${DEFAULT-VALUE}).")
    private int hours;

    @Option(names = "--days", defaultValue = "30", description = "Days of one-minute rows (default: ${DEFAULT-VALUE}).")
    private int days;

    private final Random random = new Random(1);
    private final List<JvmKey> keys = new ArrayList<>();

    public static void main(String[] args) {
        System.exit(new CommandLine(new HistoryBenchmark()).execute(args));
    }

    @Override
    public Integer call() throws IOException, SQLException {
        Path directory = Files.createTempDirectory("taskclock-history");
        try {
            measure(directory);
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
            }
        }
        return 0;
    }

    private void measure(Path directory) throws IOException, SQLException {
        MachineInfo machine = MachineInfo.read();
        print(
                "%s, %d processors, Linux %s, JDK %s, load %s",
                machine.cpu(),
                machine.processors(),
                machine.kernel(),
                machine.jdk(),
                Files.readString(Path.of("/proc/loadavg")).strip());
        print(
                "%d JVMs, %d pools and %d threads in use each second, %d simulated hours",
                jvms, POOL_SHARES.length, THREAD_SHARES.length, hours);
        for (int i = 0; i < jvms; i++)
            keys.add(new JvmKey(i + "-1", "host", i, "service-" + i, "Main", null, null, Instant.EPOCH));
        // The last second is now, so that the age of the rows is right.
        long end = Instant.now().getEpochSecond() / 60 * 60;
        long start = end - hours * 3_600L;
        try (HistoryDatabase database = HistoryDatabase.open(directory)) {
            write(database, start, end);
            addDays(database, end);
            query(database, end);
        }
        print(
                "resident memory of the JVM: %d MB, of which heap %d MB",
                status("VmRSS") / 1_024,
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted() >> 20);
        print("peak of the resident memory: %d MB", status("VmHWM") / 1_024);
    }

    private void write(HistoryDatabase database, long start, long end) throws SQLException {
        SeriesKeys series = new SeriesKeys();
        PendingRows pending = new PendingRows(series);
        Retention retention = new Retention(HistoryOptions.DEFAULT);
        long writing = 0;
        long rolling = 0;
        long longest = 0;
        long firstHourBytes = 0;
        try (HistoryWriter writer = new HistoryWriter(database.connection(), series)) {
            for (long time = start; time < end; time += SECONDS_PER_TRANSACTION) {
                List<HistorySample> samples = samples(time);
                long begin = cpu();
                for (HistorySample sample : samples) pending.add(sample);
                PendingRows.Batch rows = pending.complete();
                pending.remove(rows);
                writer.write(rows, List.of(), pending.oldestSecond(), pending.newestSecond());
                pending.resetOldestSecond();
                long now = cpu();
                writing += now - begin;
                long elapsed = time - start;
                if (elapsed % 3_600 == 0 && elapsed > 0) rollUp(writer);
                if (elapsed % 600 == 0) trim(writer, retention);
                long pause = cpu() - now;
                rolling += pause;
                longest = Math.max(longest, pause);
                if (elapsed == 2 * 3_600) firstHourBytes = usedBytes(writer);
            }
            rollUp(writer);
            trim(writer, retention);
            double seconds = end - start;
            print(
                    "CPU of writing: %.2f %% of a core; of rolling up and deleting: %.2f %%, at most %.1f s at once",
                    writing / seconds / 1e7, rolling / seconds / 1e7, longest / 1e9);
            long grown = usedBytes(writer) - firstHourBytes;
            print(
                    "disk: %.1f MB after two hours, then %.1f MB a day; file %.1f MB",
                    firstHourBytes / 1e6, grown / 1e6 / (hours - 2) * 24, database.bytes() / 1e6);
        }
    }

    private static void rollUp(HistoryWriter writer) throws SQLException {
        boolean hasMore = true;
        while (hasMore) hasMore = writer.rollUp();
    }

    private static void trim(HistoryWriter writer, Retention retention) throws SQLException {
        writer.trimByAge(retention);
        while (retention.isTooLarge(writer.usedBytes(), 0)) writer.trimBySize(retention);
    }

    private static long usedBytes(HistoryWriter writer) throws SQLException {
        writer.checkpoint();
        return writer.usedBytes();
    }

    private List<HistorySample> samples(long time) {
        List<HistorySample> samples = new ArrayList<>();
        for (int second = 1; second <= SECONDS_PER_TRANSACTION; second++) {
            for (JvmKey key : keys) {
                List<ThreadUsage> pools = new ArrayList<>();
                long cpu = 0;
                long user = 0;
                for (int i = 0; i < POOL_SHARES.length; i++) {
                    ThreadUsage usage = usage(0, "pool-" + i + "-#", POOL_SHARES[i], 4);
                    pools.add(usage);
                    cpu += usage.cpuNanos();
                    user += usage.userNanos();
                }
                List<ThreadUsage> threads = new ArrayList<>();
                for (int i = 0; i < THREAD_SHARES.length; i++)
                    threads.add(usage(i + 1, "pool-" + i + "-" + random.nextInt(20), THREAD_SHARES[i], 1));
                Instant end = Instant.ofEpochSecond(time + second);
                samples.add(new HistorySample(
                        key,
                        end,
                        1_000_000_000,
                        pools,
                        threads,
                        new CpuTime(cpu, user, cpu - user),
                        new JvmUsage.ContainerUsage(cpu, 0, 2)));
            }
        }
        return samples;
    }

    /** Returns a usage that varies by half. */
    private ThreadUsage usage(int tid, String name, int share, int threads) {
        long cpu = (long) (share * 1e6 * (0.5 + random.nextDouble()));
        long user = (long) (cpu * (0.7 + 0.2 * random.nextDouble()));
        return ThreadUsage.of(1, tid, name, ThreadKind.JAVA)
                .pool("pool")
                .threads(threads)
                .cpu(cpu, user)
                .waited((long) (cpu * random.nextDouble() / 10))
                .switches(0, 0)
                .state('S')
                .build();
    }

    /** Repeats the last day in the table of one minute, so that a month can be queried. */
    private void addDays(HistoryDatabase database, long end) throws SQLException {
        try (Connection connection = database.connection();
                Statement statement = connection.createStatement()) {
            for (String table : new String[] {"pool_60", "process_60", "thread_60"}) {
                for (int shift = hours * 3_600; shift < days * DAY; shift += hours * 3_600)
                    statement.execute("INSERT INTO " + table + " SELECT * REPLACE (time - " + shift + " AS time) FROM "
                            + table + " WHERE time >= " + (end - hours * 3_600L));
            }
            statement.execute("INSERT INTO gap VALUES (10, 0, " + (end - hours * 3_600L) + ")");
            statement.execute("UPDATE jvm_key SET first_seen = first_seen - " + days * DAY);
            statement.execute("UPDATE recorded SET start = start - " + days * DAY);
            statement.execute("CHECKPOINT");
        }
        print("file with %d days of one-minute rows: %.1f MB", days, database.bytes() / 1e6);
    }

    private void query(HistoryDatabase database, long end) throws SQLException {
        Instant to = Instant.ofEpochSecond(end);
        query(database, "a month of one JVM", to.minusSeconds((long) days * DAY), to);
        query(database, "a day of one JVM", to.minusSeconds(DAY), to);
        query(database, "an hour of one JVM", to.minusSeconds(3_000), to);
        long[] millis = new long[QUERIES];
        for (int i = 0; i < QUERIES; i++) {
            long begin = System.nanoTime();
            try (Connection connection = database.reader()) {
                HostReader.jvms(connection, to.minusSeconds((long) days * DAY), to);
            }
            millis[i] = (System.nanoTime() - begin) / 1_000_000;
        }
        report("the JVMs of a month, with their CPU time", millis);
    }

    private void query(HistoryDatabase database, String what, Instant from, Instant to) throws SQLException {
        long[] millis = new long[QUERIES];
        int steps = 0;
        for (int i = 0; i < QUERIES; i++) {
            long begin = System.nanoTime();
            try (Connection connection = database.reader()) {
                steps = new SeriesReader(connection, keys.get(i).id(), from, to, 1_000)
                        .pools()
                        .times()
                        .length;
            }
            millis[i] = (System.nanoTime() - begin) / 1_000_000;
        }
        report(what + " in " + steps + " steps", millis);
    }

    private static void report(String what, long... millis) {
        long first = millis[0];
        Arrays.sort(millis);
        print(
                "query of %s: first %d ms, median %d ms, max %d ms",
                what, first, millis[QUERIES / 2], millis[QUERIES - 1]);
    }

    /** Returns a value of /proc/self/status in kB. */
    private static long status(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(name + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElse(-1);
    }

    private static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static void print(String format, Object... arguments) {
        System.out.println(String.format(Locale.ROOT, format, arguments));
    }
}
