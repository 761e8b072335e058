// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.taskclock.testing.MeasuredWork;

/** A program with spans for OpenTelemetry's agent. Prints the CPU time of the work in each. */
final class SpanProgram {
    private SpanProgram() {}

    @SuppressWarnings("try") // the scopes only need to be open
    public static void main(String[] args) throws Exception {
        Tracer tracer = GlobalOpenTelemetry.getTracer("test");
        MeasuredWork work = new MeasuredWork();
        MeasuredWork partWork = new MeasuredWork();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        Span span = tracer.spanBuilder("orders").startSpan();
        try (Scope scope = span.makeCurrent()) {
            work.repeat(10);
            pool.submit(Context.current().wrap(() -> {
                        Span part = tracer.spanBuilder("part").startSpan();
                        try (Scope partScope = part.makeCurrent()) {
                            partWork.repeat(20);
                        }
                        part.end();
                    }))
                    .get();
        }
        new MeasuredWork().repeat(20);
        span.end();
        pool.shutdown();
        System.out.println("orders " + (work.nanos() + partWork.nanos()) + " ns");
        System.out.println("part " + partWork.nanos() + " ns");
    }
}
