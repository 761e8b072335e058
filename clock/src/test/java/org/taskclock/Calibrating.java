// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Main class of child JVMs: the calibration when it is first known, and after it was made again. */
final class Calibrating {
    private Calibrating() {}

    public static void main(String[] arguments) {
        ClockStatus.Calibration first = longerThan(-1);
        ClockStatus.Calibration second = longerThan(first.overNanos());
        System.out.println(first.overNanos() + " " + second.overNanos() + " "
                + Math.round(1e6 * Math.abs(second.counterHertz() - first.counterHertz()) / first.counterHertz()) + " "
                + second.resets());
    }

    private static ClockStatus.Calibration longerThan(long nanos) {
        ClockStatus.Calibration calibration = TaskClock.status().calibration();
        while (calibration.overNanos() <= nanos) {
            // It is by readings that the rate is measured again.
            for (int i = 0; i < 1_000; i++) Work.sink = TaskClock.cpuNanos();
            calibration = TaskClock.status().calibration();
        }
        return calibration;
    }
}
