// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.fuzz;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;

/**
 * A fuzz target: a class with a static method {@code fuzzerTestOneInput(byte[])}, which throws only if there is a bug.
 *
 * @param className it is in the package of the parser, which is not public
 */
record Target(String className) {
    static final List<Target> ALL = Stream.of(
                    "ProcStatFuzz",
                    "monitor.proc.ProcTextFuzz",
                    "monitor.attach.AttachReplyFuzz",
                    "monitor.sampling.ThreadDumpFuzz",
                    "monitor.fleet.AgentReportFuzz",
                    "monitor.proc.PerfDataFuzz",
                    "monitor.profile.CollapsedStacksFuzz",
                    "monitor.recording.RecordingFuzz",
                    "report.RecordingTextFuzz",
                    "report.ResultFuzz",
                    "web.http.WebConfigFuzz",
                    "web.http.BasicAuthFuzz",
                    "web.http.CertificateFuzz",
                    "monitor.fleet.ServiceNameFuzz",
                    "web.RequestFuzz",
                    "web.HttpRequestFuzz",
                    "web.UploadedRecordingFuzz",
                    "history.SqlFuzz",
                    "agent.AgentOptionsFuzz",
                    "cli.SavedSettingsFuzz",
                    "cli.OptionValueFuzz")
            .map(name -> new Target("org.taskclock." + name))
            .toList();

    /** Returns the name of its files. */
    String name() {
        return className.substring(className.lastIndexOf('.') + 1);
    }

    /** Runs it once. Throws what it throws. */
    void run(byte[] input) throws Throwable {
        Method method = Class.forName(className).getMethod("fuzzerTestOneInput", byte[].class);
        try {
            method.invoke(null, (Object) input);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public String toString() {
        return name();
    }
}
