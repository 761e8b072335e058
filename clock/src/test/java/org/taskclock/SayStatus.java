// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
import java.util.Arrays;

/** Main class of child JVMs: what the clock found there, a line each. */
final class SayStatus {
    private SayStatus() {}

    public static void main(String[] arguments) {
        ClockStatus status = TaskClock.status();
        System.out.println("rung=" + status.rung());
        for (ClockStatus.Verdict verdict : status.rungs()) {
            System.out.println(verdict.rung() + (verdict.usable() ? "+" : "-") + verdict.reason());
        }
        System.out.println("binding=" + status.binding());
        System.out.println("state=" + status.state());
        System.out.println("calibration=" + status.calibration());
        System.out.println("accuracy=" + status.accuracy());
        System.out.println("cpu=" + (TaskClock.cpuNanos() > 0 ? "known" : "unknown"));
        String[] left = new File(System.getProperty("java.io.tmpdir")).list();
        System.out.println("temporary=" + Arrays.toString(left));
        System.out.flush();
        if (arguments.length > 0) Runtime.getRuntime().halt(0);
    }
}
