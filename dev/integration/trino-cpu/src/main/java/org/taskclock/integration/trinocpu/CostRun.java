// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.trinocpu;

import com.sun.management.OperatingSystemMXBean;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;

/**
 * Runs the queries with each clock in turns and prints what they cost: {@code CostRun SCHEMA ROUNDS THREADS}. A line
 * has elapsed time, CPU time of the drivers' kernel threads, CPU time of the process, and readings of the clock.
 */
public final class CostRun {
    private static final int WARM_UP = 3;
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** Trino replaces System.out. */
    private static final PrintStream OUT = System.out;

    private CostRun() {}

    public static void main(String[] args) throws Exception {
        TrinoServer trino = new TrinoServer(args[0]);
        int rounds = Integer.parseInt(args[1]);
        Clocks.Mode[] modes = Clocks.Mode.values();
        for (int round = -WARM_UP; round < rounds; round++) {
            for (int i = 0; i < modes.length; i++) {
                // Each mode comes first, second, ... equally often.
                Clocks.Mode mode = modes[Math.floorMod(i + round, modes.length)];
                Clocks.use(mode);
                long elapsed = System.nanoTime();
                long drivers = TrinoServer.kernelNanos(args[2]);
                long process = SYSTEM.getProcessCpuTime();
                long reads = Clocks.reads();
                for (String sql : TrinoServer.QUERIES) trino.run(sql);
                elapsed = System.nanoTime() - elapsed;
                drivers = TrinoServer.kernelNanos(args[2]) - drivers;
                process = SYSTEM.getProcessCpuTime() - process;
                reads = Clocks.reads() - reads;
                if (round < 0) continue;
                OUT.println("@cost\tidle\tall\t" + round + "\t" + mode + "\t" + elapsed + "\t" + drivers + "\t"
                        + process + "\t" + reads);
            }
        }
        OUT.flush();
        System.exit(0); // some of Trino's threads are not daemons
    }
}
