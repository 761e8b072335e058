// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that pretends to have the agent, whose report says what the argument is. Prints a line when it is ready.
 */
final class ForgedReportProgram {
    /** Needed for the properties in which the report is. */
    static final String OPTION = "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED";

    private ForgedReportProgram() {}

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        Path library = Files.createTempDirectory("forged").resolve("libtaskclock-forged.so");
        Files.write(library, new byte[8_192]);
        try (FileChannel file = FileChannel.open(library)) {
            file.map(FileChannel.MapMode.READ_ONLY, 0, 8_192);
        }
        Files.delete(library);
        Files.delete(library.getParent());
        Method properties = Class.forName("jdk.internal.vm.VMSupport").getMethod("getAgentProperties");
        Properties agent = (Properties) properties.invoke(null);
        agent.setProperty("taskclock.report", args[0]);
        System.out.println("ready");
        for (int i = 0; ; i++) {
            agent.setProperty("taskclock.report", args[i % args.length]);
            LockSupport.parkNanos(130_000_000);
        }
    }

    /** Returns a report with these groups of virtual threads. */
    static String report(String... groups) {
        return "{\"version\":\"1.0.0\",\"pools\":[],\"carriers\":[],\"yieldMode\":\"count\",\"yielders\":[],"
                + "\"yieldSites\":[],\"health\":{\"features\":[]},\"virtualThreads\":[" + String.join(",", groups)
                + "]}";
    }

    static String group(String name, long live, long cpuNanos) {
        return "{\"name\":\"" + name + "\",\"live\":" + live + ",\"ended\":0,\"cpuNanos\":" + cpuNanos
                + ",\"userNanos\":" + cpuNanos + "}";
    }
}
