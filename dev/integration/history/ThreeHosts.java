// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.taskclock.CpuTime;
import org.taskclock.history.DuckDbHistory;
import org.taskclock.history.History;
import org.taskclock.history.HistoryOptions;
import org.taskclock.history.HistoryQueries;
import org.taskclock.history.HistorySample;
import org.taskclock.history.JvmKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** Writes the histories of three hosts, and exports them to one directory. Arguments: DATA EXPORT. */
public final class ThreeHosts {
    private static final int JVMS = 4;
    private static final int SECONDS = 300;

    private ThreeHosts() {}

    public static void main(String[] args) throws Exception {
        Random random = new Random(18);
        Instant start = Instant.ofEpochSecond(Instant.now().getEpochSecond() - SECONDS - 60);
        long total = 0;
        for (String host : List.of("alpha", "beta", "gamma.example.org")) {
            Path data = Path.of(args[0], host);
            try (History history = DuckDbHistory.open(data, HistoryOptions.DEFAULT)) {
                for (int second = 1; second <= SECONDS; second++) {
                    for (int pid = 1; pid <= JVMS; pid++) {
                        JvmKey jvm = new JvmKey(
                                pid + "-" + start.getEpochSecond(),
                                host,
                                pid,
                                "service-" + pid,
                                "Main",
                                null,
                                null,
                                start);
                        List<ThreadUsage> pools = new ArrayList<>();
                        long cpu = 0;
                        for (String pool : List.of("worker-#", "C2 CompilerThread#", "größe \"<#>\"")) {
                            long user = random.nextInt(300_000_000);
                            long system = random.nextInt(50_000_000);
                            cpu += user + system;
                            pools.add(ThreadUsage.of(pid, 0, pool, ThreadKind.JAVA)
                                    .pool(pool)
                                    .threads(4)
                                    .cpu(user + system, user)
                                    .waited(0)
                                    .switches(0, 0)
                                    .state('S')
                                    .build());
                        }
                        total += cpu;
                        history.add(new HistorySample(
                                jvm,
                                start.plusSeconds(second),
                                1_000_000_000,
                                pools,
                                List.of(),
                                new CpuTime(cpu, cpu, 0),
                                null));
                    }
                }
            }
            System.out.println(host + ": " + HistoryQueries.of(data).export(Path.of(args[1])) + " files");
        }
        System.out.println("CPU time added: " + total + " ns");
    }
}
