// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.taskclock.monitor.attach.FakeJvm;

/** How the sources of profiles treat a JVM that does not answer. */
@Timeout(60)
class StackSourceTest {
    private static final String DUMP = """
            "main" #1 prio=5 os_prio=0 cpu=12.34ms elapsed=1.00s tid=0x1 nid=0x12 runnable  [0x1]
               java.lang.Thread.State: RUNNABLE
            \tat a.B.hot(B.java:7)
            """;

    /** JDK 25 and later send other replies while the program is stopped. */
    @Test
    void shouldNotKeepTheProgramStoppedWhileItReadsADump() throws Exception {
        try (FakeJvm jvm = new FakeJvm(request -> request.contains("getversion") ? "options: streaming" : DUMP)) {
            ThreadDumpSource source = new ThreadDumpSource(jvm.pid(), jvm.client(), false);
            source.start();
            assertThat(jvm.nextRequest()).contains("getversion");
            for (int i = 0; i < 2; i++) assertThat(jvm.nextRequest()).contains("threaddump streaming=0");
            source.stop();
        }
    }

    @Test
    void shouldEndAShortProfileDuringADump() throws Exception {
        AtomicInteger dumps = new AtomicInteger();
        try (FakeJvm jvm = new FakeJvm(request -> {
            if (request.contains("getversion")) return "options";
            return dumps.incrementAndGet() == 1 ? DUMP : null;
        })) {
            ThreadDumpSource source = new ThreadDumpSource(jvm.pid(), jvm.client(), false);
            source.start();
            for (int i = 0; i < 3; i++) jvm.nextRequest();
            assertThat(dumps).hasValue(2);
            assertThat(source.stop()).isEmpty();
        }
    }

    @Test
    void shouldReportThatNoDumpWasAnswered() throws Exception {
        AtomicInteger dumps = new AtomicInteger();
        try (FakeJvm jvm = new FakeJvm(request -> {
            if (request.contains("getversion")) return "options";
            return dumps.incrementAndGet() == 1 ? DUMP : FakeJvm.NO_REPLY;
        })) {
            ThreadDumpSource source = new ThreadDumpSource(jvm.pid(), jvm.client(), false);
            source.start();
            for (int i = 0; i < 3; i++) jvm.nextRequest();
            Thread.sleep(200); // the source has seen that the connection was closed
            assertThatThrownBy(source::stop).hasMessage("it closed the connection without a reply");
        }
    }

    @Test
    void shouldStopTheRecordingIfTheFirstAttemptFails() throws Exception {
        AtomicInteger stops = new AtomicInteger();
        try (FakeJvm jvm = new FakeJvm(request -> {
            if (request.contains("JFR.start")) return "Started recording 1.";
            return stops.incrementAndGet() == 1 ? FakeJvm.NO_REPLY : "Stopped recording";
        })) {
            JfrSource source = new JfrSource(jvm.pid(), jvm.client(), 17, false, 10_000_000, 60);
            source.start();
            assertThatThrownBy(source::stop).isInstanceOf(IOException.class);
            source.abort();
            source.abort();
            assertThat(stops).hasValue(2);
        }
    }

    @Test
    void shouldStopAsyncProfilerIfTheFirstAttemptFails() throws Exception {
        AtomicInteger stops = new AtomicInteger();
        try (FakeJvm jvm = new FakeJvm(request -> {
            if (!request.contains(" stop,")) return "return code: 0";
            return stops.incrementAndGet() == 1 ? FakeJvm.NO_REPLY : "return code: 0";
        })) {
            Path library = Path.of("/libasyncProfiler.so");
            AsyncProfilerSource source =
                    new AsyncProfilerSource(jvm.pid(), jvm.client(), library, library, false, 10_000_000, 60);
            source.start();
            assertThatThrownBy(source::stop).isInstanceOf(IOException.class);
            source.abort();
            source.abort();
            assertThat(stops).hasValue(2);
        }
    }

    @Test
    void shouldUseATimerIfPerfEventsFail() throws Exception {
        try (FakeJvm jvm =
                new FakeJvm(request -> request.contains("event=cpu") ? "return code: 200" : "return code: 0")) {
            Path library = Path.of("/libasyncProfiler.so");
            AsyncProfilerSource source =
                    new AsyncProfilerSource(jvm.pid(), jvm.client(), library, library, false, 10_000_000, 60);
            source.start();
            for (String command : List.of("status", "event=cpu", "event=ctimer"))
                assertThat(jvm.nextRequest()).contains(command);
            assertThat(source.description()).isEqualTo("async-profiler (ctimer)");
            source.abort();
        }
    }
}
