// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.proc.TemporaryFolderException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "taskclock",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Measure and explain the CPU time of Java threads.",
        subcommands = {
            TopCommand.class,
            WhyCommand.class,
            ListCommand.class,
            CheckCommand.class,
            RecordCommand.class,
            ReplayCommand.class,
            DiffCommand.class,
            ReportCommand.class,
            TimeCommand.class,
            YieldsCommand.class,
            ProfileCommand.class,
            DumpCommand.class,
            BundleCommand.class,
            ExporterCommand.class,
            ServeCommand.class,
            QueryCommand.class,
            DoctorCommand.class,
            AttachCommand.class,
            DetachCommand.class,
            StatusCommand.class,
            LabCommand.Bench.class,
            LabCommand.Experiment.class,
            CompletionCommand.class
        },
        footer = {
            "",
            "Examples:",
            "  taskclock top                           live view of the busiest JVM",
            "  taskclock why 4711                      where its CPU time goes, in five lines",
            "  taskclock list                          the running JVMs",
            "  taskclock check 4711 --system 50%%       fail if it uses more system time",
            "  taskclock record 4711 -o night.gz       record to a file for replay and diff",
            "  taskclock time -- java -jar app.jar     run a command and report its CPU time",
            "  taskclock yields 4711                   find callers of Thread.yield",
            "  taskclock profile 4711                  show hot methods",
            "  taskclock dump 4711                     thread dump with the CPU time of each thread",
            "  taskclock bundle 4711                   one file with all of this for a colleague",
            "  taskclock exporter                      metrics of all JVMs for Prometheus",
            "  taskclock serve                         all JVMs and their history in a browser",
            "  taskclock query \"FROM jvm\"              query the history with SQL",
            "  taskclock doctor                        check the clock on this machine",
            "  taskclock doctor --json | jq .contract  the same, for scripts",
            "  taskclock attach 4711 --yield count     attach the agent to a JVM",
            "  taskclock detach 4711                   detach it",
            "  taskclock status 4711                   show the health of the agent",
            "  taskclock bench                         compare with published results",
            "  taskclock report quick.json             render results as HTML",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 3 threshold exceeded, 4 no such process,"
                    + " 5 permission denied."
        })
final class Main implements Callable<Integer> {
    static final int OK = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;
    static final int THRESHOLD = 3;
    static final int NO_PROCESS = 4;
    static final int NOT_PERMITTED = 5;

    /** Standard output. System.out would hide that the disk is full or the reader has closed the pipe. */
    static OutputStream standardOutput = new FileOutputStream(FileDescriptor.out);

    @Spec
    private CommandSpec spec;

    private Main() {}

    public static void main(String[] args) {
        // Before the classes of the command are loaded, which takes most of its start.
        if (mayBeInteractive(args)) Tty.keepKeys();
        System.exit(run(args)); // which restores the terminal
    }

    /** Returns whether the command may take over the terminal. If it does not, it calls {@link Tty#release}. */
    private static boolean mayBeInteractive(String... args) {
        return args.length > 0
                && (args[0].equals("top") || args[0].equals("replay"))
                && Collections.disjoint(
                        List.of(args), Set.of("-b", "--batch", "--json", "--csv", "-h", "--help", "-V", "--version"));
    }

    static CommandLine commandLine() {
        CommandLine commandLine = new CommandLine(new Main());
        // Options after the timed command belong to that command.
        commandLine.getSubcommands().get("time").setStopAtPositional(true);
        for (CommandLine command : commandLine.getSubcommands().values()) {
            if (command.getCommand() instanceof LabCommand)
                command.setStopAtPositional(true).setUnmatchedOptionsArePositionalParams(true);
            else command.getCommandSpec().mixinStandardHelpOptions(true).versionProvider(new Version());
        }
        if (isDumbTerminal()) commandLine.setColorScheme(Help.defaultColorScheme(Help.Ansi.OFF));
        return commandLine.registerConverter(Duration.class, new UnitConverters.DurationConverter());
    }

    /** Runs the command line and returns the exit code. */
    static int run(String... args) {
        try {
            if (isSimpleAttach(args)) return runSimpleAttach(args);
            return commandLine()
                    .setParameterExceptionHandler(Main::usageError)
                    .setExecutionExceptionHandler((e, command, parsed) -> fail(e))
                    .execute(args);
        } catch (Throwable e) {
            return fail(e);
        }
    }

    /**
     * Returns whether this is {@code attach PID [OPTIONS]} or {@code detach PID}. These compete with the observed
     * program for the processors, so they bypass picocli, which would account for half of their CPU time.
     */
    private static boolean isSimpleAttach(String... args) {
        boolean isSimple = args.length >= 2 && (args[0].equals("attach") ? args.length <= 3 : isDetach(args));
        return isSimple && isProcessId(args[1]) && (args.length < 3 || !args[2].startsWith("-"));
    }

    private static boolean isDetach(String... args) {
        return args[0].equals("detach") && args.length == 2;
    }

    private static boolean isProcessId(String text) {
        if (text.isEmpty() || text.length() > 9) return false;
        for (int i = 0; i < text.length(); i++) if (text.charAt(i) < '0' || text.charAt(i) > '9') return false;
        return true;
    }

    private static int runSimpleAttach(String... args) throws IOException, CommandException {
        long pid = Long.parseLong(args[1]);
        return isDetach(args) ? DetachCommand.run(pid) : AttachCommand.run(pid, args.length < 3 ? "" : args[2], false);
    }

    @Override
    public Integer call() throws IOException {
        print(spec.commandLine().getUsageMessage());
        return USAGE;
    }

    /** Writes to standard output. */
    static void print(String text) throws IOException {
        print(text, Charset.defaultCharset());
    }

    /** Writes text for programs to standard output, which do not depend on the locale. */
    static void printUtf8(String text) throws IOException {
        print(text, StandardCharsets.UTF_8);
    }

    private static void print(String text, Charset charset) throws IOException {
        standardOutput.write(text.getBytes(charset));
    }

    private static int usageError(ParameterException e, String[] args) {
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        return fail(e.getMessage() + ": see " + command + " --help", USAGE);
    }

    /** Prints why a command failed, and returns the exit code. */
    static int fail(Throwable e) {
        if (Boolean.getBoolean("taskclock.debug")) e.printStackTrace();
        // A reading of the clock throws one of these if a forced backend cannot be used.
        boolean isProperty = e instanceof IllegalArgumentException || e instanceof IllegalStateException;
        if (isProperty && String.valueOf(e.getMessage()).startsWith("-Dtaskclock.")) return fail(e.getMessage(), USAGE);
        if (e instanceof UncheckedIOException u) return fail(u.getCause()); // from iterating over a recording
        if (e instanceof CommandException c) return fail(c.getMessage(), c.exitCode);
        if (e instanceof MonitorException m)
            return fail(
                    m.getMessage(),
                    switch (m.reason()) {
                        case GONE -> NO_PROCESS;
                        case NOT_PERMITTED -> Main.NOT_PERMITTED;
                        case NOT_A_JVM, FAILED -> FAILED;
                    });
        if (e instanceof TemporaryFolderException) return fail(e.getMessage(), FAILED);
        if (e instanceof FileSystemException f) return fail(f.getFile() + ": " + RecordCommand.describe(f), FAILED);
        if (e instanceof IOException) {
            // The process that reads the output, such as head, has closed the pipe.
            return "Broken pipe".equals(e.getMessage()) ? FAILED : fail("I/O error: " + e.getMessage(), FAILED);
        }
        return fail("internal error: " + e + ": please report it with the output of -Dtaskclock.debug=true", FAILED);
    }

    /** Prints the state that the agent reported and returns the exit code. */
    static int printAgentState(String state) throws IOException {
        if (state.startsWith("failed: ")) return fail("agent: " + state.substring("failed: ".length()), FAILED);
        print("agent: " + state + "\n");
        return OK;
    }

    /** Prints the message to standard error and returns the exit code. */
    static int fail(String message, int exitCode) {
        System.err.println("taskclock: " + message);
        return exitCode;
    }

    /** Returns whether the terminal does not support escape sequences, or is unknown. */
    static boolean isDumbTerminal() {
        String term = System.getenv("TERM");
        return term == null || term.isEmpty() || term.equals("dumb");
    }

    static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "(development build)" : version;
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"taskclock " + version()};
        }
    }
}
