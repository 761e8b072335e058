// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.web.http.WebException;

/** Exports the JVMs that match the argument, prints the address, and does what the lines of standard input say. */
final class ExporterProgram {
    private static final List<byte[]> HELD = new ArrayList<>();

    private ExporterProgram() {}

    public static void main(String[] args) throws IOException, WebException {
        FatalErrors.endProcess("exporter");
        ExporterOptions options = new ExporterOptions(
                "127.0.0.1:0",
                null,
                new FleetOptions(List.of(), args[0], 100, Duration.ofMinutes(1), true),
                Duration.ofMillis(100),
                Duration.ofMillis(100),
                null,
                "test");
        Exporter exporter = new Exporter(options, System.err::println);
        System.out.println(exporter.url());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("fill")) fill();
            if (line.equals("close")) break;
        }
        exporter.close();
        System.exit(0);
    }

    /** Leaves no memory for other threads. */
    private static void fill() {
        int size = 1 << 20;
        while (size > 0) {
            try {
                HELD.add(new byte[size]);
            } catch (OutOfMemoryError e) {
                size /= 2;
            }
        }
        while (true) LockSupport.park();
    }
}
