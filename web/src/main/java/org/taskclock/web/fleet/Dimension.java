// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.taskclock.web.http.ApiException;

/** By what the CPU time of a fleet can be shown. */
@SuppressWarnings("ImmutableEnumChecker") // lists by List.of
enum Dimension {
    SERVICE("service:" + Names.CPU, "service:" + Names.CPU, "service:" + Names.JVMS, "service"),
    VERSION(
            "service_version:" + Names.CPU,
            "service_version:" + Names.CPU,
            "service_version:" + Names.JVMS,
            Names.VERSION),
    HOST("instance:" + Names.CPU, "jvm:" + Names.CPU, "instance:" + Names.JVMS, "instance"),
    POOL("pool:" + Names.THREADS, "service_pool:" + Names.THREADS, null, Names.POOL, Names.KIND),
    ACCOUNT("account:" + Names.ACCOUNTS, "service_account:" + Names.ACCOUNTS, null, Names.ACCOUNT, Names.TYPE),
    /** Only of one service. */
    JVM(null, "jvm:" + Names.CPU, null, "jvm", "instance");

    private static final class Names {
        static final String CPU = "taskclock_process_cpu_time_seconds:rate5m";
        static final String THREADS = "taskclock_thread_cpu_time_seconds:rate5m";
        static final String ACCOUNTS = "taskclock_account_cpu_time_seconds:rate5m";
        static final String JVMS = "taskclock_jvms:count";
        static final String VERSION = "service_version";
        static final String POOL = "taskclock_pool_name";
        static final String KIND = "taskclock_pool_kind";
        static final String ACCOUNT = "taskclock_account_name";
        static final String TYPE = "taskclock_account_type";
    }

    /** In the names of rates. */
    private static final String FIVE_MINUTES = ":rate5m";

    private final String ofFleet;
    private final String ofService;

    /** The recorded number of JVMs; null if there is none. */
    final String jvms;

    /** The labels of a row. The first is its name. */
    final List<String> labels;

    Dimension(String ofFleet, String ofService, String jvms, String... labels) {
        this.ofFleet = ofFleet;
        this.ofService = ofService;
        this.jvms = jvms;
        this.labels = List.of(labels);
    }

    static Dimension parse(String text, boolean hasService) throws ApiException {
        if (text == null || text.isEmpty()) return hasService ? JVM : SERVICE;
        for (Dimension dimension : values()) {
            if (!dimension.text().equals(text)) continue;
            if (dimension == JVM && !hasService)
                throw ApiException.badRequest("by=jvm: needs the parameter service, because a fleet has too many JVMs");
            return dimension;
        }
        throw ApiException.badRequest("by: must be one of "
                + Arrays.stream(values()).map(Dimension::text).collect(Collectors.joining(", ")));
    }

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the labels that tell two rows apart. The same version is another one in another service. */
    List<String> labels(boolean hasService) {
        return this == VERSION && !hasService ? List.of(labels.get(0), "service") : labels;
    }

    /** Returns the recorded sum of the fleet. */
    String fleetSum() {
        return switch (this) {
            case POOL -> "fleet:" + Names.THREADS;
            case ACCOUNT -> "account_type:" + Names.ACCOUNTS;
            default -> "fleet:" + Names.CPU;
        };
    }

    /** Returns the recorded mean of an hour in the fleet. */
    String hourly() {
        return ofFleet.replace(FIVE_MINUTES, ":rate1h");
    }

    /** Returns the recorded metric, without labels. */
    String metric(boolean hasService) {
        return hasService ? ofService : ofFleet;
    }
}
