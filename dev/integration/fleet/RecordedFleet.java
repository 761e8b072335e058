// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * What the rules record of a fleet that does not exist, to measure what queries about it take. There are 100 JVMs for
 * each service, and 20 on each host. A service has two versions, of which the second may appear in the window, and 25
 * pools and 10 accounts, of which 2 and 5 no other service has. One JVM of 50 has a finding.
 *
 * <pre>
 * java RecordedFleet.java history JVMS FROM TO STEP   series that queries read for a whole range, and all of 3 services
 * java RecordedFleet.java now JVMS FROM TO STEP       the others
 * </pre>
 *
 * Writes OpenMetrics for promtool tsdb create-blocks-from. Times are in seconds.
 */
public final class RecordedFleet {
    private static final int JVMS_PER_SERVICE = 100;
    private static final int JVMS_PER_HOST = 20;
    private static final int POOLS = 25;
    private static final int OWN_POOLS = 2;
    private static final int ACCOUNTS = 10;
    private static final int OWN_ACCOUNTS = 5;
    private static final int JVMS_PER_FINDING = 50;
    private static final int WHOLE_SERVICES = 3;

    /** How often means of hours are recorded. */
    private static final int HOURLY_STEP = 300;

    private final SplittableRandom random = new SplittableRandom(1);
    private final PrintStream out =
            new PrintStream(new BufferedOutputStream(System.out, 1 << 20), false, StandardCharsets.UTF_8);
    private final StringBuilder text = new StringBuilder();
    private final long from;
    private final long to;
    private final long step;

    private RecordedFleet(long from, long to, long step) {
        this.from = from;
        this.to = to;
        this.step = step;
    }

    public static void main(String[] args) {
        RecordedFleet fleet =
                new RecordedFleet(Long.parseLong(args[2]), Long.parseLong(args[3]), Long.parseLong(args[4]));
        fleet.write(args[0].equals("history"), Integer.parseInt(args[1]));
        fleet.out.println("# EOF");
        fleet.out.flush();
    }

    private void write(boolean history, int jvms) {
        int services = jvms / JVMS_PER_SERVICE;
        for (int service = 0; service < services; service++) {
            String labels = "job=\"taskclock\",service=\"service-" + service + "\"";
            boolean isWhole = service < WHOLE_SERVICES;
            if (history) writeService(labels, service, services);
            if (history == isWhole) {
                for (int jvm = 0; jvm < JVMS_PER_SERVICE; jvm++)
                    writeJvm(labels, service * JVMS_PER_SERVICE + jvm, jvms, service);
                for (int pool = 0; pool < POOLS; pool++)
                    rate("service_pool:taskclock_thread_cpu_time_seconds:rate5m", labels + "," + pool(pool, service));
                for (int account = 0; account < ACCOUNTS; account++)
                    rate(
                            "service_account:taskclock_account_cpu_time_seconds:rate5m",
                            labels + "," + account(account, service));
            }
            if (history) {
                for (int pool = service == 0 ? 0 : POOLS - OWN_POOLS; pool < POOLS; pool++)
                    rate("pool:taskclock_thread_cpu_time_seconds:rate5m", "job=\"taskclock\"," + pool(pool, service));
                for (int account = service == 0 ? 0 : ACCOUNTS - OWN_ACCOUNTS; account < ACCOUNTS; account++)
                    rate(
                            "account:taskclock_account_cpu_time_seconds:rate5m",
                            "job=\"taskclock\"," + account(account, service));
            }
        }
        if (history) {
            rate("fleet:taskclock_process_cpu_time_seconds:rate5m", "job=\"taskclock\"");
            rate("fleet:taskclock_thread_cpu_time_seconds:rate5m", "job=\"taskclock\"");
            rate(
                    "account_type:taskclock_account_cpu_time_seconds:rate5m",
                    "job=\"taskclock\",taskclock_account_type=\"tenant\"");
        }
        for (int host = 0; history && host < jvms / JVMS_PER_HOST; host++) {
            String labels = "job=\"taskclock\",instance=\"" + instance(host) + "\"";
            rate("instance:taskclock_process_cpu_time_seconds:rate5m", labels);
            constant("instance:taskclock_jvms:count", labels, from, JVMS_PER_HOST);
        }
    }

    private void writeService(String labels, int service, int services) {
        rate("service:taskclock_process_cpu_time_seconds:rate5m", labels);
        rate("service:taskclock_process_cpu_time_seconds:median_rate5m", labels);
        constant("service:taskclock_jvms:count", labels, from, JVMS_PER_SERVICE);
        if (service % 7 == 0) constant("service:taskclock_jvm_outliers:count", labels, from, 2);
        long deployed = from + (to - from) * service / services;
        for (int version = 1; version <= 2; version++) {
            String own = labels + ",service_version=\"1." + version + "\"";
            long first = version == 1 ? from : deployed;
            rate("service_version:taskclock_process_cpu_time_seconds:rate5m", own, first);
            constant("service_version:taskclock_jvms:count", own, first, JVMS_PER_SERVICE / 2);
        }
    }

    private void writeJvm(String labels, int jvm, int jvms, int service) {
        // JVMs of a service are on different hosts.
        int hosts = jvms / JVMS_PER_HOST;
        String own = labels + ",instance=\"" + instance(jvm % hosts) + "\",jvm=\"service-" + service + "-" + (1_000 + jvm) + "\"";
        rate("jvm:taskclock_process_cpu_time_seconds:rate5m", own);
        String info = own + ",service_version=\"1." + (1 + jvm % 2) + "\",pid=\"" + (1_000 + jvm) + "\",container_id=\""
                + Long.toHexString(jvm * 2_654_435_761L) + "\"";
        constant("taskclock_jvm_info", info, from, 1);
        if (jvm % JVMS_PER_FINDING == 0)
            constant(
                    "jvm_finding:taskclock_finding_start_time_seconds:active",
                    own + ",taskclock_finding_kind=\"" + (jvm % 3 == 0 ? "gc" : "yield-storm") + "\"",
                    from,
                    from + service);
    }

    private static String instance(int host) {
        return "node-" + host + ".example.com:10077";
    }

    private static String pool(int pool, int service) {
        boolean isOwn = pool >= POOLS - OWN_POOLS;
        return "taskclock_pool_kind=\"java\",taskclock_pool_name=\"pool-" + pool + (isOwn ? "-of-" + service : "")
                + "-thread-#\"";
    }

    private static String account(int account, int service) {
        boolean isOwn = account >= ACCOUNTS - OWN_ACCOUNTS;
        return "taskclock_account_type=\"tenant\",taskclock_account_name=\"tenant-" + account
                + (isOwn ? "-of-" + service : "") + "\"";
    }

    private void rate(String name, String labels) {
        rate(name, labels, from);
    }

    private void rate(String name, String labels, long first) {
        double mean = random.nextDouble() * 2;
        if (name.matches("(service|service_version|instance|pool|account):[a-z_]*:rate5m")) {
            String hourly = name.replace("rate5m", "rate1h");
            for (long time = first; time <= to; time += HOURLY_STEP)
                sample(hourly, labels, time, mean + random.nextDouble());
        }
        for (long time = first; time <= to; time += step) sample(name, labels, time, mean + random.nextDouble());
    }

    private void constant(String name, String labels, long first, double value) {
        for (long time = first; time <= to; time += step) sample(name, labels, time, value);
    }

    private void sample(String name, String labels, long time, double value) {
        text.setLength(0);
        text.append(name).append('{').append(labels).append("} ").append(value).append(' ').append(time);
        out.println(text);
    }
}
