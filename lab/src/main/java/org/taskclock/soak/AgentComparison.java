// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;

/**
 * Compares an engine with the agent and without. In one JVM, the agent is switched on and off through its bean. Windows
 * form groups of four: on, off, off, on alternating with off, on, on, off, which cancels drift of the machine. This
 * shows small differences, but not the cost of an agent that is off. Pairs of JVMs, one with the agent and one without
 * any, show all of it, but JVMs differ from each other.
 */
final class AgentComparison {
    /** The pause between switching and the start of a window. */
    private static final long SETTLE_MILLIS = 500;

    private static final double CONFIDENCE = 0.95;

    /**
     * A difference, on minus off, in percent.
     *
     * @param error half of the 95 % confidence interval
     */
    record Difference(double percent, double error) {
        /** Computes a difference from logarithms of ratios. The error is infinite for fewer than two. */
        static Difference of(List<Double> ratios) {
            DescriptiveStatistics all = new DescriptiveStatistics();
            ratios.forEach(all::addValue);
            double error = Double.POSITIVE_INFINITY;
            if (all.getN() > 1) {
                double t =
                        new TDistribution((double) (all.getN() - 1)).inverseCumulativeProbability((1 + CONFIDENCE) / 2);
                error = t * all.getStandardDeviation() / Math.sqrt((double) all.getN());
            }
            return new Difference(100 * Math.expm1(all.getMean()), 100 * error);
        }
    }

    /**
     * The result of a comparison.
     *
     * @param throughput operations per second
     * @param cpu CPU time of the process per operation
     * @param perSecond median of operations per second with the agent off
     */
    record Result(int groups, double windowSeconds, double perSecond, Difference throughput, Difference cpu) {}

    /**
     * The result of a comparison of pairs of JVMs.
     *
     * @param other how the JVMs without the agent were started
     * @param perSecond median of operations per second of these JVMs
     */
    record PairsResult(
            String other, int pairs, double windowSeconds, double perSecond, Difference throughput, Difference cpu) {}

    /** Runs an engine until it is warm, and measures a window. */
    @FunctionalInterface
    interface Run {
        Window run(boolean withAgent) throws IOException, InterruptedException, JMException;
    }

    record Window(double perSecond, double cpuPerOperation) {
        static Window of(Engine engine, long millis) throws IOException, InterruptedException, JMException {
            long operations = -engine.operations();
            long cpu = -engine.cpuNanos();
            long nanos = -System.nanoTime();
            TimeUnit.MILLISECONDS.sleep(millis);
            operations += engine.operations();
            cpu += engine.cpuNanos();
            nanos += System.nanoTime();
            if (operations <= 0 || cpu <= 0) throw new IOException("no operation in a window of " + millis + " ms");
            return new Window(operations * 1e9 / nanos, (double) cpu / operations);
        }
    }

    /** Compares JVMs, of which every second pair begins with the one without the agent. */
    static PairsResult pairs(int pairs, double windowSeconds, String other, Run engine)
            throws IOException, InterruptedException, JMException {
        List<Double> throughput = new ArrayList<>();
        List<Double> cpu = new ArrayList<>();
        DescriptiveStatistics without = new DescriptiveStatistics();
        for (int i = 0; i < pairs; i++) {
            double perSecond = 0;
            double perOperation = 0;
            for (boolean withAgent : new boolean[] {i % 2 == 0, i % 2 != 0}) {
                Window window = engine.run(withAgent);
                int sign = withAgent ? 1 : -1;
                perSecond += sign * Math.log(window.perSecond);
                perOperation += sign * Math.log(window.cpuPerOperation);
                if (!withAgent) without.addValue(window.perSecond);
            }
            throughput.add(perSecond);
            cpu.add(perOperation);
        }
        return new PairsResult(
                other, pairs, windowSeconds, without.getPercentile(50), Difference.of(throughput), Difference.of(cpu));
    }

    private final Engine engine;
    private final AgentMXBean agent;
    private final long windowMillis;

    AgentComparison(Engine engine, long windowMillis) {
        this.engine = engine;
        this.agent = engine.bean(AgentMXBean.NAME, AgentMXBean.class);
        this.windowMillis = windowMillis;
    }

    Result run(int groups) throws IOException, InterruptedException, JMException {
        List<Double> throughput = new ArrayList<>();
        List<Double> cpu = new ArrayList<>();
        DescriptiveStatistics off = new DescriptiveStatistics();
        for (int i = 0; i < groups; i++) {
            boolean[] enabled =
                    i % 2 == 0 ? new boolean[] {true, false, false, true} : new boolean[] {false, true, true, false};
            double perSecond = 0;
            double perOperation = 0;
            for (boolean on : enabled) {
                Window window = window(on);
                int sign = on ? 1 : -1;
                perSecond += sign * Math.log(window.perSecond) / 2;
                perOperation += sign * Math.log(window.cpuPerOperation) / 2;
                if (!on) off.addValue(window.perSecond);
            }
            throughput.add(perSecond);
            cpu.add(perOperation);
        }
        agent.setEnabled(true);
        return new Result(
                groups, windowMillis / 1e3, off.getPercentile(50), Difference.of(throughput), Difference.of(cpu));
    }

    private Window window(boolean on) throws IOException, InterruptedException, JMException {
        if (agent.isEnabled() != on) agent.setEnabled(on);
        TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
        Window window = Window.of(engine, windowMillis);
        if (agent.isEnabled() != on) throw new IOException("something else switched the agent");
        if (on) engine.checkAgent();
        return window;
    }
}
