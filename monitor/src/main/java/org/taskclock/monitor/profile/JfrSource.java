// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.taskclock.internal.JdkVersions;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.proc.TargetFiles;

/**
 * Samples with Flight Recorder, in a recording of its own: the CPU-time sampler of JDK 25 and later, or else the
 * execution sampler. The latter also runs on JDK 25, because the former records nothing if the signal SIGPROF is taken.
 */
final class JfrSource implements StackSource {
    /** The first start of Flight Recorder in a JVM loads and transforms classes. */
    private static final long TIMEOUT_MILLIS = 30_000;

    /** The execution sampler accepts no shorter period. */
    private static final long MIN_PERIOD_MILLIS = 10;

    private final long pid;
    private final AttachClient jvm;
    private boolean hasCpuTime;
    private final boolean lines;
    private long periodNanos;
    private final long maxSeconds;
    private final String name;
    private final List<String> notes = new ArrayList<>();
    private Set<String> repositories = Set.of();
    private String description = "JFR";
    private boolean running;
    /** Whether the JVM has our temporary directory. */
    private boolean isLocal;

    /** @param maxSeconds when the recording stops by itself if this process is killed */
    JfrSource(long pid, AttachClient jvm, int feature, boolean lines, long periodNanos, long maxSeconds) {
        this.pid = pid;
        this.jvm = jvm;
        hasCpuTime = feature >= JdkVersions.CPU_TIME_SAMPLES;
        this.lines = lines;
        this.periodNanos = periodNanos;
        this.maxSeconds = maxSeconds;
        name = "taskclock_profile_" + ProcessHandle.current().pid() + "_" + System.nanoTime();
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public synchronized long periodNanos() {
        return periodNanos;
    }

    @Override
    public List<String> notes() {
        return List.copyOf(notes);
    }

    @Override
    public boolean samplesJvmThreads() {
        return false;
    }

    private long executionPeriodMillis() {
        return Math.max(MIN_PERIOD_MILLIS, periodNanos / 1_000_000);
    }

    @Override
    public synchronized void start() throws IOException {
        if (hasCpuTime && AsyncProfilerLibrary.hasTakenSigprof(pid)) {
            // Otherwise, the sampler would log an error to the program's standard output.
            hasCpuTime = false;
            notes.add("async-profiler has taken the signal SIGPROF, which jdk.CPUTimeSample needs");
        }
        String command = "JFR.start name=" + name + " settings=none dumponexit=false duration=" + maxSeconds
                + "s filename=/tmp/." + name + ".jfr +jdk.ExecutionSample#enabled=true +jdk.ExecutionSample#period="
                + executionPeriodMillis() + "ms";
        if (hasCpuTime) command += " +jdk.CPUTimeSample#enabled=true +jdk.CPUTimeSample#throttle=" + periodNanos + "ns";
        repositories = repositories();
        isLocal = jvm.files().isSame(Path.of("/tmp"));
        running = true;
        String reply = jvm.execute(TIMEOUT_MILLIS, "jcmd", command);
        if (reply.contains("Started recording")) return;
        running = false;
        throw new ProfileException("process " + pid + ": Flight Recorder did not start: "
                + reply.lines().filter(line -> !line.isBlank()).findFirst().orElse("no reply"));
    }

    @Override
    public synchronized List<Sample> stop() throws IOException {
        if (!running) throw new ProfileException("process " + pid + ": the profile was interrupted");
        try {
            String reply = jvm.execute(TIMEOUT_MILLIS, "jcmd", "JFR.stop name=" + name);
            running = false; // otherwise, abort() tries again
            if (!jvm.files().exists(file())) {
                throw new ProfileException("process " + pid + ": Flight Recorder did not write its recording: "
                        + reply.lines()
                                .filter(line -> !line.isBlank())
                                .findFirst()
                                .orElse("no reply"));
            }
            return read();
        } finally {
            jvm.files().deleteIfExists(file());
            deleteRepository();
        }
    }

    private List<Sample> read() throws IOException {
        if (hasCpuTime) {
            List<Sample> samples = JfrSamples.read(jvm.files(), file(), true, lines, periodNanos);
            if (!samples.isEmpty()) {
                description = "JFR (jdk.CPUTimeSample)";
                return samples;
            }
            notes.add("jdk.CPUTimeSample recorded nothing, so this is jdk.ExecutionSample:"
                    + " another profiler has taken the signal SIGPROF");
        }
        description = "JFR (jdk.ExecutionSample)";
        notes.add("jdk.ExecutionSample samples by wall-clock time and only Java code, not native code or the kernel");
        periodNanos = executionPeriodMillis() * 1_000_000;
        return JfrSamples.read(jvm.files(), file(), false, lines, periodNanos);
    }

    @Override
    public synchronized void abort() {
        if (!running) return;
        running = false;
        try {
            jvm.execute(TIMEOUT_MILLIS, "jcmd", "JFR.stop name=" + name);
        } catch (IOException e) {
            // The JVM has exited or hangs. Otherwise, the recording stops after its duration.
        }
        try {
            jvm.files().deleteIfExists(file());
            // A JVM that exits writes the file, and cannot be reached any more.
            if (isLocal) Files.deleteIfExists(Path.of(file()));
            deleteRepository();
        } catch (IOException e) {
            // A container's file system disappears with its processes.
        }
    }

    /** Returns the file to which the JVM writes the recording, also if it stops by itself. */
    private String file() {
        return TargetFiles.TMP + "." + name + ".jfr";
    }

    /** Returns the folders in which the JVM keeps unfinished recordings. */
    private Set<String> repositories() throws IOException {
        Set<String> names = new TreeSet<>();
        for (String name : jvm.files().list(TargetFiles.TMP))
            if (name.matches("\\d{4}(_\\d{2}){5}_\\d+(_\\d+)?")) names.add(name);
        return names;
    }

    /** Deletes the folder that the JVM has created for this recording. It creates a new one for the next recording. */
    private void deleteRepository() throws IOException {
        for (String folder : repositories()) {
            if (repositories.contains(folder) || !folder.matches(".*_" + jvm.innerPid() + "(_\\d+)?")) continue;
            try {
                jvm.files().deleteDirectoryIfExists(TargetFiles.TMP + folder);
            } catch (DirectoryNotEmptyException e) {
                // Another recording uses it.
            }
        }
    }
}
