// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import java.io.IOException;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;

/** Programs whose threads, pools, or accounts compete for processors, with each other or with other processes. */
final class SharingPrograms {
    private static final long MILLI = 1_000_000;
    private static final int THREADS = 4;
    /** Ends with the JVM that has started it. */
    private static final String NEIGHBOR = "while [ -d /proc/$PPID ]; do :; done";

    private static volatile Object unusedSink;

    private SharingPrograms() {}

    /** A batch job begins, in a pool of its own. */
    static void batch() {
        for (int i = 1; i <= THREADS; i++) {
            Threads.start("http-exec-" + i, Threads::request, Threads::request);
            Threads.start("batch-" + i, SharingPrograms::runBatch);
        }
    }

    /** Allocates its result, other than a loop that waits. */
    static void runBatch() {
        Threads.compute(MILLI);
        unusedSink = new byte[1_000];
    }

    /** A batch job begins, and pauses after each millisecond for as long as a hundred. */
    static void slowBatch() {
        Threads.start("http-exec-1", Threads::request, Threads::request);
        Threads.start("batch-1", () -> {
            Threads.compute(MILLI);
            Threads.pause(100 * MILLI);
        });
    }

    /** Two jobs begin that use the same. */
    static void twoBatches() {
        for (int i = 1; i <= THREADS; i++) {
            Threads.start("report-" + i, SharingPrograms::runBatch);
            Threads.start("index-" + i, SharingPrograms::runBatch);
        }
    }

    static void neighbor() {
        int processors = Runtime.getRuntime().availableProcessors();
        for (int i = 1; i <= processors; i++)
            Threads.start("renderer-" + i, SharingPrograms::runBatch, SharingPrograms::runBatch);
        Threads.start("deployer", Threads::request, new Threads.Step() {
            private boolean isStarted;

            @Override
            public void run() throws IOException {
                for (int i = 0; !isStarted && i < 2 * processors; i++) new ProcessBuilder("sh", "-c", NEIGHBOR).start();
                isStarted = true;
                Threads.request();
            }
        });
    }

    /** The customer globex runs a report in the same threads in which all customers send requests. */
    static void tenants() {
        tenants("acme", "initech");
    }

    /** It is the only customer. */
    static void oneTenant() {
        tenants(new String[0]);
    }

    private static void tenants(String... others) {
        AccountType tenant = CpuAccounts.type("tenant");
        for (int i = 1; i <= THREADS; i++) {
            for (String other : others) {
                Threads.Step request = () -> run(tenant, other, Threads::request);
                Threads.start("http-" + other + "-" + i, request, request);
            }
            Threads.start(
                    "http-globex-" + i,
                    () -> run(tenant, "globex", Threads::request),
                    () -> run(tenant, "globex", SharingPrograms::runReport));
        }
    }

    private static void runReport() {
        runBatch();
    }

    @SuppressWarnings("try") // only its beginning and end matter
    private static void run(AccountType type, String name, Threads.Step step) throws Exception {
        try (CpuSection section = type.of(name).enter()) {
            step.run();
        }
    }
}
