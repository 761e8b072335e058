// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.usage.ThreadUsage;

class ExceptionStormTest {
    @ParameterizedTest
    @CsvSource({
        "990, 4, 10, true,  it throws all the time",
        "990, 3, 10, false, it does more than that",
        "990, 6,  7, false, too few samples",
        "500, 9, 10, false, it waits half of the time",
    })
    void shouldFindThreadsThatThrowAllTheTime(
            long cpu, int exceptionSamples, int samples, boolean isFound, String description) {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = samples;
        stacks.exceptionSamples = exceptionSamples;
        stacks.exceptionSite = "at example.Parser.parse(Parser.java:3)";
        ThreadUsage thread = Observations.thread(8, "parser-1", ThreadKind.JAVA, cpu, 0, 0, 3);
        Finding found = Observations.only(
                Observations.ofThread(thread, stacks, 0, -1), new ExceptionStorm(), isFound, description);
        if (!isFound) return;
        assertThat(found.text()).isEqualTo("thread \"parser-1\" keeps creating exceptions");
        assertThat(found.evidence())
                .contains(
                        "it filled in a stack trace in 4 of 10 stack samples",
                        "in the last one at example.Parser.parse(Parser.java:3)");
    }

    @ParameterizedTest
    @CsvSource({"java.lang.Throwable.fillInStackTrace, true", "java.lang.Throwable.printStackTrace, false"})
    void shouldRecognizeHowExceptionsAreCreated(String frame, boolean isException) {
        String text = """
                "parser-1" #8 [8] prio=5 os_prio=0 cpu=1ms elapsed=1s allocated=10K defined_classes=1 tid=0x07 nid=8 waiting
                   java.lang.Thread.State: RUNNABLE
                \tat %s(java.base@25/Native Method)
                \tat example.Parser.parse(Parser.java:3)
                """.formatted(frame);
        ThreadDump.Entry entry = ThreadDump.parse(text).of(8);
        assertThat(entry.isCreatingException()).isEqualTo(isException);
    }
}
