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

/** Receives the output of JMH: keeps each result as soon as it is complete, and the text printed for each benchmark. */
final class JmhOutput implements OutputFormat {
    /** Receives progress. */
    interface Listener {
        void started(Contender contender);

        void ended(RunResult result);
    }

    private final Listener listener;
    private final OutputFormat output;
    private final Map<Contender, StringBuilder> printed = new LinkedHashMap<>();
    private final List<RunResult> done = new ArrayList<>();
    private StringBuilder current = new StringBuilder();

    /**
     * Constructs an output.
     *
     * @param output receives everything too; may be null
     */
    JmhOutput(Listener listener, OutputFormat output) {
        this.listener = listener;
        this.output = output;
    }

    synchronized List<RunResult> done() {
        return List.copyOf(done);
    }

    /** Returns a line that explains why there is no result. */
    synchronized String failure(Contender contender) {
        StringBuilder text = printed.get(contender);
        if (text == null) return "JMH did not start it";
        return failure(text.toString());
    }

    static String failure(String printed) {
        List<String> lines = printed.lines().map(String::strip).toList();
        String exit = null;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.startsWith("<forked VM failed")) exit = line.replaceAll("[<>]", "");
            // Followed by the end of standard error or a stack trace.
            boolean heading = line.startsWith("<stderr") || line.equals("<failure>");
            if (heading) {
                String first = lines.subList(i + 1, lines.size()).stream()
                        .filter(next -> !next.isEmpty() && !next.startsWith("WARNING"))
                        .findFirst()
                        .orElse("");
                if (!first.isEmpty() && !first.startsWith("<")) return exit == null ? first : exit + ": " + first;
            }
        }
        return exit == null ? "JMH returned no result and no reason" : exit;
    }

    @Override
    public synchronized void startBenchmark(BenchmarkParams benchmark) {
        Contender contender = Contender.ofBenchmark(benchmark.getBenchmark());
        current = new StringBuilder();
        printed.put(contender, current);
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
