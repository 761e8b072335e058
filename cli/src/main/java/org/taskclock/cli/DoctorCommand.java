// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;
import org.taskclock.report.MachineInfo;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "doctor",
        description = {
            "Show how CPU time is read on this machine and why, what a reading costs, and whether the clock meets"
                    + " its contract.",
            "Takes about eight seconds and keeps every processor busy for three of them."
        },
        footer = {"", "Exit codes: 0 the contract holds, 1 it does not, 2 usage error."})
final class DoctorCommand implements Callable<Integer> {
    /** Tests that do not need the figures measure for a fraction of the time. */
    private static final long MILLIS = 1_000_000 / Integer.getInteger("taskclock.doctor.fraction", 1);

    // The command must finish within 15 s, including JVM startup on an overloaded machine.
    private static final long WARM_UP_NANOS = 1_500 * MILLIS;
    private static final long TIMING_NANOS = 2_500 * MILLIS;
    private static final long CONTRACT_NANOS = 3_000 * MILLIS;

    private static final class Format {
        @Option(names = "--json", description = "Print one JSON object and nothing else.")
        private boolean json;

        @Option(
                names = "--report",
                description = {
                    "Print all of this as Markdown, to paste into an issue, with details of the processor and the"
                            + " settings that affect the clock. Does not contain the name of the host."
                })
        private boolean report;
    }

    @ArgGroup(exclusive = true)
    private Format format = new Format();

    private final StringBuilder collected = new StringBuilder();

    @Override
    public Integer call() throws IOException, InterruptedException, ExecutionException {
        ClockStatus status = TaskClock.status();
        MachineInfo machine = MachineInfo.read();
        print(DoctorText.machine(machine, status) + "\n" + DoctorText.backends(status) + "\n");

        List<ReadTimer.Latency> reads = ReadTimer.measure(ClockReaders.create(), WARM_UP_NANOS, TIMING_NANOS);
        print(DoctorText.reads(reads) + "\n");

        ContractResult contract = ContractCheck.ofTaskClock().run(CONTRACT_NANOS);
        status = TaskClock.status(); // calibration and accuracy have data by now
        print(DoctorText.calibration(status.calibration())
                + DoctorText.accuracy(status.accuracy(), status.calibration())
                + DoctorText.contract(contract, status.backend()));
        if (format.json) Main.printUtf8(DoctorJson.of(machine, status, reads, contract) + "\n");
        if (format.report) {
            DoctorReport report = new DoctorReport(Path.of("/"));
            Main.printUtf8(report.of(Main.version(), collected.toString(), System.getProperties(), System.getenv()));
        }
        return contract.holds() ? Main.OK : Main.FAILED;
    }

    /** Prints a section of the text, or keeps it for the report. */
    private void print(String section) throws IOException {
        if (format.report) collected.append(section);
        else if (!format.json) Main.print(section);
    }
}
