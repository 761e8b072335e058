// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Main class of child JVMs: prints the first calibration and compares it with the next one. */
final class CalibrationPrinter {
    private CalibrationPrinter() {}

    public static void main(String[] arguments) {
        ClockStatus.Calibration first = awaitIntervalAbove(-1);
        ClockStatus.Calibration second = awaitIntervalAbove(first.overNanos());
        double difference = Math.abs(second.counterHertz() - first.counterHertz());
        long partsPerMillion = Math.round(1e6 * difference / first.counterHertz());
        System.out.println(
                first.overNanos() + " " + second.overNanos() + " " + partsPerMillion + " " + second.resets());
    }

    private static ClockStatus.Calibration awaitIntervalAbove(long nanos) {
        ClockStatus.Calibration calibration = TaskClock.status().calibration();
        while (calibration.overNanos() <= nanos) {
            // Readings trigger the next calibration.
            for (int i = 0; i < 1_000; i++) CpuLoad.sink = TaskClock.cpuNanos();
            calibration = TaskClock.status().calibration();
        }
        return calibration;
    }
}
