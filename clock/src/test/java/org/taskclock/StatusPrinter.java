// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
import java.util.Arrays;

/** Main class of child JVMs: prints the clock's status. With an argument, it then halts the JVM. */
final class StatusPrinter {
    private StatusPrinter() {}

    public static void main(String[] arguments) {
        ClockStatus status = TaskClock.status();
        System.out.println("backend=" + status.backend());
        for (ClockStatus.Verdict verdict : status.backends()) {
            System.out.println(verdict.backend() + (verdict.usable() ? "+" : "-") + verdict.reason());
        }
        System.out.println("binding=" + status.binding());
        System.out.println("state=" + status.state());
        System.out.println("calibration=" + status.calibration());
        System.out.println("accuracy=" + status.accuracy());
        System.out.println("cpu=" + (TaskClock.cpuNanos() > 0 ? "known" : "unknown"));
        String[] temporaryFiles = new File(System.getProperty("java.io.tmpdir")).list();
        System.out.println("temporary=" + Arrays.toString(temporaryFiles));
        System.out.flush();
        if (arguments.length > 0) Runtime.getRuntime().halt(0);
    }
}
