// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.taskclock.zoo.Misbehavior;
import org.taskclock.zoo.ZooProgram;

/** A JVM that runs a program of the zoo, while tools watch it. */
final class ZooRun implements AutoCloseable {
    private static final int POLL_MILLIS = 250;
    /** {@code why} starts when somebody has noticed the problem, and must end before the program does. */
    private static final double WHY_DELAY_SECONDS = 1;

    private static final double WHY_START_SECONDS = 3;
    private static final int EXIT_SECONDS = 20;

    private final Misbehavior program;
    private final Path directory;
    private final Process process;
    private final BufferedReader output;
    private final long pid;
    private final List<Process> tools = new ArrayList<>();
    private long beginMillis;

    ZooRun(Misbehavior program, ExperimentJvm jvm, double normalSeconds, Path directory)
            throws IOException, InterruptedException {
        this.program = program;
        this.directory = directory;
        program.options().forEach(jvm::option);
        process = jvm.start(directory.resolve("errors"), ZooProgram.class, program.name(), normalSeconds);
        output = process.inputReader(StandardCharsets.UTF_8);
        pid = readLine().pid();
    }

    long beginMillis() {
        return beginMillis;
    }

    private ZooProgram.Line readLine() throws IOException, InterruptedException {
        String line = output.readLine();
        if (line != null) return new Gson().fromJson(line, ZooProgram.Line.class);
        // Ctrl-C ends the program, too.
        if (process.waitFor() >= 128) throw new InterruptedException();
        throw new LabException(program.name() + ": " + Files.readString(directory.resolve("errors")));
    }

    /**
     * Lets TaskClock watch the program, and returns its answers.
     *
     * @param overview a server whose page shows all JVMs
     * @param page a server whose page shows this one
     */
    List<ZooAnswer> watch(ZooCommand taskclock, ZooServer overview, ZooServer page, double seconds)
            throws IOException, InterruptedException {
        overview.begin();
        page.begin();
        Path top = directory.resolve("top");
        Path why = directory.resolve("why");
        Process watching = start(taskclock, top, "top", "-b", "--limit", "5", Long.toString(pid));
        Process explaining = null;
        while (beginMillis == 0 || elapsedSeconds() < seconds) {
            if (beginMillis == 0 && output.ready()) beginMillis = readLine().beginMillis();
            if (explaining == null && beginMillis != 0 && elapsedSeconds() >= WHY_DELAY_SECONDS) {
                double left = Math.max(1, seconds - WHY_DELAY_SECONDS - WHY_START_SECONDS);
                explaining = start(taskclock, why, "why", Long.toString(pid), "--for", (long) (left * 1e3) + "ms");
            }
            overview.poll(pid, false);
            page.poll(pid, true);
            Thread.sleep(POLL_MILLIS);
            if (!process.isAlive()) readLine(); // throws
        }
        watching.destroy();
        await(watching);
        if (explaining != null) await(explaining);
        return answers(Files.readString(why), ZooTop.of(Files.readString(top), beginMillis), overview, page);
    }

    private List<ZooAnswer> answers(String why, ZooTop top, ZooServer overview, ZooServer page) {
        List<ZooAnswer.Statement> problems = ZooTop.problem(why, System.currentTimeMillis());
        return List.of(
                ZooAnswer.ofFindings(program, "why", problems, why, beginMillis),
                ZooAnswer.ofFindings(program, "top", top.statements(), top.threads(program), beginMillis),
                ZooAnswer.ofFindings(program, "serve", overview.findings(), "", beginMillis),
                ZooAnswer.ofFindings(program, "page", page.findings(), "", beginMillis),
                ZooAnswer.ofAlerts(program, overview.findings()));
    }

    /** Lets a script ask other tools, and returns the lines for each of them. */
    Map<String, List<String>> ask(Path script) throws IOException, InterruptedException {
        beginMillis = readLine().beginMillis();
        Path lines = directory.resolve("tools");
        Process asking = new ProcessBuilder(script.toAbsolutePath().toString(), Long.toString(pid))
                .redirectError(directory.resolve("tools.log").toFile())
                .redirectOutput(lines.toFile())
                .start();
        tools.add(asking);
        while (!asking.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) if (!process.isAlive()) readLine(); // throws
        return sections(Files.readAllLines(lines));
    }

    /** Parses headings of the form {@code == NAME}, and the lines below each. */
    static Map<String, List<String>> sections(List<String> lines) {
        Map<String, List<String>> sections = new LinkedHashMap<>();
        List<String> section = new ArrayList<>();
        for (String line : lines) {
            if (line.startsWith("== "))
                section = sections.computeIfAbsent(line.substring(3), name -> new ArrayList<>());
            else if (!line.isBlank()) section.add(line);
        }
        return sections;
    }

    private Process start(ZooCommand taskclock, Path file, String... arguments) throws IOException {
        Process started = taskclock.start(file, arguments);
        tools.add(started);
        return started;
    }

    private static void await(Process tool) throws InterruptedException {
        if (!tool.waitFor(EXIT_SECONDS, TimeUnit.SECONDS))
            tool.destroyForcibly().waitFor();
    }

    private double elapsedSeconds() {
        return (System.currentTimeMillis() - beginMillis) / 1e3;
    }

    @Override
    public void close() throws IOException {
        for (Process tool : tools) tool.destroy();
        output.close();
        process.destroyForcibly();
    }
}
