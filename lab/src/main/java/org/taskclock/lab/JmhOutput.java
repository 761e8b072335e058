// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.format.OutputFormat;

/** Receives the output of JMH: keeps each result as soon as it is complete, and the text printed for each benchmark. */
final class JmhOutput {
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

    /** @param output receives everything too; may be null */
    JmhOutput(Listener listener, OutputFormat output) {
        this.listener = listener;
        this.output = output;
    }

    /** Returns the format to pass to JMH. A proxy, because it only passes on most of the 13 methods. */
    OutputFormat format() {
        return (OutputFormat) Proxy.newProxyInstance(
                JmhOutput.class.getClassLoader(), new Class<?>[] {OutputFormat.class}, (proxy, method, arguments) -> {
                    receive(method.getName(), arguments);
                    return output == null ? null : passOn(method, arguments);
                });
    }

    private Object passOn(Method method, Object... arguments) throws Throwable {
        try {
            return method.invoke(output, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private synchronized void receive(String method, Object... arguments) {
        switch (method) {
            case "startBenchmark" -> {
                Contender contender = Contender.ofBenchmark(((BenchmarkParams) arguments[0]).getBenchmark());
                current = new StringBuilder();
                printed.put(contender, current);
                listener.started(contender);
            }
            case "endBenchmark" -> {
                if (arguments[0] == null) return;
                BenchmarkResult result = (BenchmarkResult) arguments[0];
                RunResult kept = new RunResult(result.getParams(), List.of(result));
                done.add(kept);
                listener.ended(kept);
            }
            case "print" -> current.append(arguments[0]);
            case "println" -> current.append(arguments[0]).append('\n');
            case "write" ->
                current.append(
                        arguments[0] instanceof byte[] bytes
                                ? new String(bytes, Charset.defaultCharset())
                                : Character.toString((int) arguments[0]));
            default -> {}
        }
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
}
