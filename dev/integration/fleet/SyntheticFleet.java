// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import com.sun.net.httpserver.HttpServer;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Timer;
import java.util.TimerTask;

/**
 * The metrics of a fleet that does not exist, to measure what storing them takes. Each JVM has 25 thread pools, of
 * which 8 use CPU time in each interval, and the others seldom. Times have a resolution of 1 ns, as real ones do.
 *
 * <pre>
 * java SyntheticFleet.java openmetrics JVMS HOURS   samples every 15 s, for promtool tsdb create-blocks-from
 * java SyntheticFleet.java columns JVMS HOURS       the same as binary columns: differences of times, then values
 * java SyntheticFleet.java serve JVMS PORT [HOSTS]  for scrapes: hosts on successive ports, each with these JVMs
 * </pre>
 */
public final class SyntheticFleet {
    private static final int POOLS = 25;
    private static final int BUSY_POOLS = 8;
    private static final long START_SECONDS = 1_700_000_000;
    private static final int INTERVAL_SECONDS = 15;
    private static final int SERVE_SECONDS = 10;

    private enum Change {
        NONE,
        TIME,
        SWITCHES,
        THREADS
    }

    private static final class Series {
        final String name;
        final Change change;
        final boolean isBusy;
        final Random random;
        double value;

        Series(String name, Change change, boolean isBusy) {
            this.name = name;
            this.change = change;
            this.isBusy = isBusy;
            random = new Random(name.hashCode());
            value = change == Change.NONE ? 1 : change == Change.THREADS ? 1 + random.nextInt(8) : 0;
        }

        void advance() {
            if (!isBusy && random.nextInt(40) > 0) return;
            switch (change) {
                case NONE -> {}
                case TIME -> value = Math.round((value + random.nextDouble()) * 1e9) / 1e9;
                case SWITCHES -> value += random.nextInt(20_000);
                case THREADS -> {
                    if (random.nextInt(10) == 0) value = 1 + random.nextInt(8);
                }
            }
        }
    }

    private SyntheticFleet() {}

    public static void main(String[] args) throws IOException {
        int jvms = Integer.parseInt(args[1]);
        int last = Integer.parseInt(args[2]);
        switch (args[0]) {
            case "openmetrics" -> openMetrics(fleet(0, jvms), last);
            case "columns" -> columns(fleet(0, jvms), last);
            case "serve" -> {
                int hosts = args.length > 3 ? Integer.parseInt(args[3]) : 1;
                for (int host = 0; host < hosts; host++) serve(fleet(host * jvms, jvms), last + host);
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static List<Series> fleet(int first, int jvms) {
        List<Series> all = new ArrayList<>();
        for (int jvm = first; jvm < first + jvms; jvm++) {
            String service = "service-" + jvm % 50;
            String identity = "jvm=\"" + service + "-" + (1000 + jvm) + "\",service=\"" + service + "\"";
            String container = String.format(Locale.ROOT, "%064x", jvm * 2654435761L);
            add(
                    all,
                    "taskclock_jvm_info{" + identity + ",pid=\"" + (1000 + jvm) + "\",jdk_version=\"21.0.8\","
                            + "service_version=\"1.0\",container_id=\"" + container + "\"}",
                    Change.NONE,
                    false);
            for (int pool = 0; pool < POOLS; pool++) {
                String labels = "{" + identity + ",taskclock_pool_kind=\"java\",taskclock_pool_name=\"pool-" + pool
                        + "-thread-#\"";
                boolean busy = pool < BUSY_POOLS;
                for (String mode : List.of("user", "system")) {
                    String name = "taskclock_thread_cpu_time_seconds_total" + labels + ",cpu_mode=\"" + mode + "\"}";
                    add(all, name, Change.TIME, busy);
                }
                add(all, "taskclock_thread_wait_time_seconds_total" + labels + "}", Change.TIME, busy);
                add(all, "taskclock_threads" + labels + "}", Change.THREADS, busy);
                for (String type : List.of("voluntary", "involuntary")) {
                    String label = ",process_context_switch_type=\"" + type + "\"}";
                    add(all, "taskclock_thread_context_switches_total" + labels + label, Change.SWITCHES, busy);
                }
            }
            for (String mode : List.of("user", "system")) {
                String name = "taskclock_process_cpu_time_seconds_total{" + identity + ",cpu_mode=\"" + mode + "\"}";
                add(all, name, Change.TIME, true);
            }
            add(all, "taskclock_container_cpu_time_seconds_total{" + identity + "}", Change.TIME, true);
            add(all, "taskclock_container_cpu_throttled_time_seconds_total{" + identity + "}", Change.TIME, false);
            add(all, "taskclock_container_cpu_limit{" + identity + "}", Change.THREADS, false);
        }
        return all;
    }

    private static void add(List<Series> all, String name, Change change, boolean isBusy) {
        all.add(new Series(name, change, isBusy));
    }

    private static void openMetrics(List<Series> series, int hours) {
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);
        for (Series one : series) {
            for (int i = 0; i < hours * 3600 / INTERVAL_SECONDS; i++) {
                one.advance();
                out.println(one.name + " " + one.value + " " + (START_SECONDS + i * INTERVAL_SECONDS));
            }
        }
        out.println("# EOF");
        out.flush();
    }

    private static void columns(List<Series> series, int hours) throws IOException {
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
        int samples = hours * 3600 / INTERVAL_SECONDS;
        // Scrapes are late by a few milliseconds.
        Random jitter = new Random(1);
        for (int i = 0; i < samples * series.size(); i++)
            out.writeLong(Long.reverseBytes(INTERVAL_SECONDS * 1000L + jitter.nextInt(5) - 2));
        for (Series one : series) {
            for (int i = 0; i < samples; i++) {
                one.advance();
                out.writeLong(Long.reverseBytes(Double.doubleToRawLongBits(one.value)));
            }
        }
        out.flush();
    }

    private static void serve(List<Series> series, int port) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/metrics", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream body = exchange.getResponseBody()) {
                StringBuilder text = new StringBuilder();
                synchronized (series) {
                    for (Series one : series)
                        text.append(one.name).append(' ').append(one.value).append('\n');
                }
                body.write(text.toString().getBytes(StandardCharsets.UTF_8));
            }
        });
        server.start();
        // Whoever scrapes, and however often, sees the same.
        new Timer("advance", false).schedule(new TimerTask() {
            @Override
            public void run() {
                synchronized (series) {
                    series.forEach(Series::advance);
                }
            }
        }, 0, SERVE_SECONDS * 1_000L);
    }
}
