// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.format.OutputFormat;

/** Told by JMH what it does: keeps each result as soon as there is one, and what was said on the way to it. */
final class Watcher implements OutputFormat {
    /** Of what is to be seen. */
    interface Listener {
        void started(Contender contender);

        void ended(RunResult result);
    }

    private final Listener listener;
    private final OutputFormat output;
    private final Map<Contender, StringBuilder> said = new LinkedHashMap<>();
    private final List<RunResult> done = new ArrayList<>();
    private StringBuilder current = new StringBuilder();

    /**
     * A watcher.
     *
     * @param output told everything too; null for nobody
     */
    Watcher(Listener listener, OutputFormat output) {
        this.listener = listener;
        this.output = output;
    }

    synchronized List<RunResult> done() {
        return List.copyOf(done);
    }

    /** Why there is no result: a line. */
    synchronized String whyNot(Contender contender) {
        StringBuilder text = said.get(contender);
        if (text == null) return "JMH did not start it";
        return whyNot(text.toString());
    }

    static String whyNot(String said) {
        List<String> lines = said.lines().map(String::strip).toList();
        String exit = null;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.startsWith("<forked VM failed")) exit = line.replaceAll("[<>]", "");
            // What stands below is the end of its standard error, or a stack trace.
            boolean heading = line.startsWith("<stderr") || line.equals("<failure>");
            if (heading) {
                String first = lines.subList(i + 1, lines.size()).stream()
                        .filter(next -> !next.isEmpty() && !next.startsWith("WARNING"))
                        .findFirst()
                        .orElse("");
                if (!first.isEmpty() && !first.startsWith("<")) return exit == null ? first : exit + ": " + first;
            }
        }
        return exit == null ? "JMH gave no result and no reason" : exit;
    }

    @Override
    public synchronized void startBenchmark(BenchmarkParams benchmark) {
        Contender contender = Contender.ofBenchmark(benchmark.getBenchmark());
        current = new StringBuilder();
        said.put(contender, current);
        listener.started(contender);
        if (output != null) output.startBenchmark(benchmark);
    }

    @Override
    public synchronized void endBenchmark(BenchmarkResult result) {
        if (result != null) {
            RunResult kept = new RunResult(result.getParams(), List.of(result));
            done.add(kept);
            listener.ended(kept);
        }
        if (output != null) output.endBenchmark(result);
    }

    @Override
    public void iteration(BenchmarkParams benchmark, IterationParams params, int iteration) {
        if (output != null) output.iteration(benchmark, params, iteration);
    }

    @Override
    public void iterationResult(
            BenchmarkParams benchmark, IterationParams params, int iteration, IterationResult result) {
        if (output != null) output.iterationResult(benchmark, params, iteration, result);
    }

    @Override
    public void startRun() {
        if (output != null) output.startRun();
    }

    @Override
    public void endRun(Collection<RunResult> results) {
        if (output != null) output.endRun(results);
    }

    @Override
    public synchronized void print(String text) {
        current.append(text);
        if (output != null) output.print(text);
    }

    @Override
    public synchronized void println(String text) {
        current.append(text).append('\n');
        if (output != null) output.println(text);
    }

    @Override
    public void verbosePrintln(String text) {
        if (output != null) output.verbosePrintln(text);
    }

    @Override
    public void flush() {
        if (output != null) output.flush();
    }

    @Override
    public void close() {
        if (output != null) output.close();
    }

    @Override
    public synchronized void write(int b) {
        current.append((char) b);
        if (output != null) output.write(b);
    }

    @Override
    public synchronized void write(byte[] bytes) throws IOException {
        current.append(new String(bytes, Charset.defaultCharset()));
        if (output != null) output.write(bytes);
    }
}
