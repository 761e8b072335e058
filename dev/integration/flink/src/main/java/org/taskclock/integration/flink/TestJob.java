// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.flink;

import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.AsyncDataStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** A job with tasks of known kinds, each with its own source. */
final class TestJob {
    enum Kind {
        COMPUTES("computes"),
        WAITS("waits"),
        ASYNC("async"),
        ASYNC_FULL("async with a full queue");

        final String task;

        Kind(String task) {
            this.task = task;
        }
    }

    /** The jobs end by themselves after these records, if nobody cancels them. */
    private static final long RECORDS = 30_000;

    private static final int POOL_THREADS = 4;
    private static final int ASYNC_SIEVES = 40;
    private static final int ASYNC_RECORDS_PER_SECOND = 80;

    private TestJob() {}

    static JobClient start(boolean hasReporter, Kind... kinds) throws Exception {
        StreamExecutionEnvironment environment = environment(hasReporter);
        for (Kind kind : kinds) add(environment, kind);
        return environment.executeAsync();
    }

    static StreamExecutionEnvironment environment(boolean hasReporter) {
        Configuration configuration = new Configuration();
        for (String key : new String[] {
            "rest.address",
            "rest.bind-address",
            "jobmanager.rpc.address",
            "jobmanager.bind-host",
            "taskmanager.host",
            "taskmanager.bind-host"
        }) {
            configuration.setString(key, "127.0.0.1");
        }
        configuration.setString("rest.bind-port", "0");
        configuration.setString("taskmanager.memory.managed.size", "16m");
        configuration.setString("taskmanager.memory.network.min", "64m");
        configuration.setString("taskmanager.memory.network.max", "64m");
        configuration.setString("metrics.reporter.figures.factory.class", TaskFigures.class.getName());
        if (hasReporter) configuration.setString("metrics.reporter.cpu.factory.class", TaskCpu.class.getName());
        return StreamExecutionEnvironment.createLocalEnvironment(1, configuration);
    }

    /** Runs a job whose records need no work. */
    static void runWithoutWork(boolean hasReporter, boolean isAsync, long records) throws Exception {
        StreamExecutionEnvironment environment = environment(hasReporter);
        DataStream<Long> source = source(environment, records, RateLimiterStrategy.noOp());
        SingleOutputStreamOperator<Long> work = isAsync
                ? async(source, new TaskWork.Async("cost", POOL_THREADS, 0), 100)
                : source.map(new TaskWork.Own("cost", 0, 0));
        work.sinkTo(new DiscardingSink<>());
        environment.execute();
    }

    private static void add(StreamExecutionEnvironment environment, Kind kind) {
        RateLimiterStrategy<?> rate = kind == Kind.ASYNC
                ? RateLimiterStrategy.perSecond(ASYNC_RECORDS_PER_SECOND)
                : RateLimiterStrategy.noOp();
        DataStream<Long> source = source(environment, RECORDS, rate);
        SingleOutputStreamOperator<Long> work =
                switch (kind) {
                    case COMPUTES -> source.map(new TaskWork.Own(kind.task, 5, 0));
                    case WAITS -> source.map(new TaskWork.Own(kind.task, 1, 20));
                    case ASYNC -> async(source, asyncFunction(kind), 2_000);
                    case ASYNC_FULL -> async(source, asyncFunction(kind), 8);
                };
        work.name(kind.task).disableChaining().sinkTo(new DiscardingSink<>()).name("sink");
    }

    private static DataStream<Long> source(
            StreamExecutionEnvironment environment, long records, RateLimiterStrategy<?> rate) {
        return environment.fromSource(
                new DataGeneratorSource<>(index -> index, records, rate, Types.LONG),
                WatermarkStrategy.noWatermarks(),
                "source");
    }

    private static TaskWork.Async asyncFunction(Kind kind) {
        return new TaskWork.Async(kind.task, POOL_THREADS, ASYNC_SIEVES);
    }

    private static SingleOutputStreamOperator<Long> async(
            DataStream<Long> source, TaskWork.Async function, int capacity) {
        return AsyncDataStream.unorderedWait(source, function, 1, TimeUnit.MINUTES, capacity);
    }
}
