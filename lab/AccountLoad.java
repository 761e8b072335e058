// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.TaskClock;

/**
 * Handles requests of 100 tenants, three of each every four seconds, until its standard input ends. The CPU time of a
 * request is a few microseconds. The argument says what is counted: {@code none}, {@code accounts} for each tenant, or
 * {@code distributions} of the requests, too.
 */
final class AccountLoad {
    private static final int TENANTS = 100;
    private static final long NANOS = 2_000;

    private AccountLoad() {}

    public static void main(String[] args) throws Exception {
        AccountType type = args[0].equals("none") ? null : CpuAccounts.type("tenant");
        if (args[0].equals("distributions")) type.withDistribution();
        Thread server = new Thread(() -> serve(type), "server");
        server.setDaemon(true);
        server.start();
        while (System.in.read() >= 0) {}
    }

    private static void serve(AccountType type) {
        while (true) {
            for (int tenant = 1; tenant <= TENANTS; tenant++) {
                for (int request = 1; request <= 3; request++) handle(type, tenant, NANOS * tenant * request);
            }
            try {
                Thread.sleep(4_000);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    @SuppressWarnings("try") // the section is only opened and closed
    private static void handle(AccountType type, int tenant, long nanos) {
        try (CpuSection section = type == null ? null : type.of("tenant-" + tenant).enter()) {
            long end = TaskClock.cpuNanos() + nanos;
            while (TaskClock.cpuNanos() < end) Thread.onSpinWait();
        }
    }
}
