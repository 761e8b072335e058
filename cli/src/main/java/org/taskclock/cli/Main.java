// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "taskclock",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Tells how much CPU time Java threads use.",
        subcommands = {
            Top.class,
            Check.class,
            Recorder.class,
            Replay.class,
            Diff.class,
            Report.class,
            Time.class,
            Yields.class,
            Doctor.class,
            Attach.class,
            Detach.class,
            Status.class,
            Lab.Bench.class,
            Lab.Experiment.class,
            Completion.class
        },
        footer = {
            "",
            "Examples:",
            "  taskclock top                           what do the busiest JVM's threads use?",
            "  taskclock check 4711 --system 50%%       for probes: 3 if it spends more than that in the kernel",
            "  taskclock record 4711 -o night.gz       the same into a file, for replay and diff",
            "  taskclock time -- java -jar app.jar     what did it use, thread by thread?",
            "  taskclock yields 4711                   who calls Thread.yield?",
            "  taskclock doctor                        is all well on this machine?",
            "  taskclock doctor --json | jq .contract  the same for a program",
            "  taskclock attach 4711 yield=count       loads the agent into a JVM",
            "  taskclock detach 4711                   and takes it out again",
            "  taskclock status 4711                   does the agent in it work?",
            "  taskclock bench                         the published figures, beside yours",
            "  taskclock report quick.json             draws what was measured, as a page of HTML",
            "",
            "Exit codes: 0 all is well, 1 it is not, 2 wrong usage, 3 a threshold is exceeded, 4 no such process, 5 not"
                    + " permitted."
        })
final class Main implements Callable<Integer> {
    static final int OK = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;
    static final int THRESHOLD = 3;
    static final int NO_PROCESS = 4;
    static final int NOT_PERMITTED = 5;

    @Spec
    private CommandSpec spec;

    private Main() {}

    public static void main(String[] args) {
        System.exit(run(args));
    }

    static CommandLine commandLine() {
        CommandLine all = new CommandLine(new Main());
        // What stands behind the command that is timed is the command's.
        all.getSubcommands().get("time").setStopAtPositional(true);
        return all;
    }

    /** Returns the exit code. */
    static int run(String... args) {
        try {
            if (isPlainAttach(args)) return runPlainAttach(args);
            return commandLine()
                    .setParameterExceptionHandler(Main::misused)
                    .setExecutionExceptionHandler((e, command, parsed) -> failed(e))
                    .execute(args);
        } catch (ExceptionInInitializerError e) {
            // So TaskClock refuses a rung that was forced and cannot be used.
            if (e.getCause() instanceof IllegalArgumentException || e.getCause() instanceof IllegalStateException) {
                return complain(e.getCause().getMessage(), USAGE);
            }
            return failed(e);
        } catch (Throwable e) {
            return failed(e);
        }
    }

    /**
     * Whether this is {@code attach PID [OPTIONS]} or {@code detach PID}. These run beside a program that notices what they take,
     * and parsing the command line would be half of it.
     */
    private static boolean isPlainAttach(String... args) {
        boolean isKnown = args.length >= 2 && (args[0].equals("attach") ? args.length <= 3 : isDetach(args));
        return isKnown && isProcessId(args[1]) && (args.length < 3 || !args[2].startsWith("-"));
    }

    private static boolean isDetach(String... args) {
        return args[0].equals("detach") && args.length == 2;
    }

    private static boolean isProcessId(String text) {
        if (text.isEmpty() || text.length() > 9) return false;
        for (int i = 0; i < text.length(); i++) if (text.charAt(i) < '0' || text.charAt(i) > '9') return false;
        return true;
    }

    private static int runPlainAttach(String... args) throws IOException {
        long pid = Long.parseLong(args[1]);
        return isDetach(args) ? Detach.run(pid) : Attach.run(pid, args.length < 3 ? "" : args[2], false);
    }

    @Override
    public Integer call() throws IOException {
        print(spec.commandLine().getUsageMessage());
        return USAGE;
    }

    /** Writes to standard output. System.out would keep to itself that the disk is full or the reader has gone. */
    static void print(String text) throws IOException {
        print(text, Charset.defaultCharset());
    }

    static void print(String text, Charset charset) throws IOException {
        @SuppressWarnings("resource") // closing it would close standard output
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        out.write(text.getBytes(charset));
    }

    private static int misused(ParameterException e, String[] args) {
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        return complain(e.getMessage() + ": see " + command + " --help", USAGE);
    }

    private static int failed(Throwable e) {
        if (Boolean.getBoolean("taskclock.debug")) e.printStackTrace();
        if (e instanceof IOException) {
            // A broken pipe is a reader that has seen enough, as head does.
            return "Broken pipe".equals(e.getMessage())
                    ? FAILED
                    : complain("input or output: " + e.getMessage(), FAILED);
        }
        return complain("internal error: " + e + ": -Dtaskclock.debug=true shows where; please report it", FAILED);
    }

    /** Prints what an agent says of itself. */
    static int report(String state) throws IOException {
        if (state.startsWith("failed: ")) return complain("agent: " + state.substring("failed: ".length()), FAILED);
        print("agent: " + state + "\n");
        return OK;
    }

    static int complain(String message, int exitCode) {
        System.err.println("taskclock: " + message);
        return exitCode;
    }

    static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "(not packaged)" : version;
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"taskclock " + version()};
        }
    }
}
