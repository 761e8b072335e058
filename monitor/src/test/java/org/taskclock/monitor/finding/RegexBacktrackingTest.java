// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.SECOND;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.usage.ThreadUsage;

class RegexBacktrackingTest {
    @ParameterizedTest
    @CsvSource({
        "990, 9, 9, true,  it does not come to an end",
        "990, 7, 9, false, too few samples",
        "990, 9, 7, false, it has not lasted",
        "500, 9, 9, false, it waits half of the time",
    })
    void shouldFindAMatchThatDoesNotEnd(long cpu, int samples, long seconds, boolean isFound, String description) {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = 20;
        stacks.regexSamples = samples;
        stacks.regexSince = 2 * SECOND;
        stacks.sampledAt = (2 + seconds) * SECOND;
        stacks.regexSite = "at example.Mail.isAddress(Mail.java:3)";
        ThreadUsage thread = Observations.thread(8, "http-1", ThreadKind.JAVA, cpu, 0, 0, 3);
        Finding found = Observations.only(
                Observations.ofThread(thread, stacks, 0, -1), new RegexBacktracking(), isFound, description);
        if (!isFound) return;
        assertThat(found.text()).isEqualTo("thread \"http-1\" keeps matching a regular expression");
        assertThat(found.evidence())
                .contains(
                        "it was in java.util.regex in the last 9 stack samples, over 9 s, without allocating anything or"
                                + " returning to its caller",
                        "the program called it at example.Mail.isAddress(Mail.java:3)");
        assertThat(found.earlierNanos()).isEqualTo(8 * SECOND);
    }

    private static String caller(String allocated, String frames) {
        return ThreadDump.parse("""
                "http-1" #8 [8] prio=5 os_prio=0 cpu=1ms elapsed=1s allocated=%s defined_classes=1 tid=0x07 nid=8 runnable
                   java.lang.Thread.State: RUNNABLE
                %s
                """.formatted(allocated, frames)).of(8).allocatedAndRegexCaller();
    }

    @Test
    void shouldDistinguishMatches() {
        String mail = "\tat example.Mail.isAddress(Mail.java:3)";
        String first = caller("10K", "\tat java.util.regex.Pattern$Loop.match(Pattern.java:4927)\n" + mail);
        assertThat(first)
                .isNotEmpty()
                .isEqualTo(caller(
                        "10K",
                        "\tat java.lang.String.charAt(String.java:1)\n"
                                + "\tat java.util.regex.Pattern$Curly.match(Pattern.java:1)\n"
                                + "\tat java.util.regex.Pattern$Loop.match(Pattern.java:4927)\n" + mail))
                .as("it has allocated something")
                .isNotEqualTo(caller("11K", "\tat java.util.regex.Pattern$Loop.match(Pattern.java:4927)\n" + mail))
                .as("another caller")
                .isNotEqualTo(caller(
                        "10K",
                        "\tat java.util.regex.Pattern$Loop.match(Pattern.java:4927)\n"
                                + "\tat example.Mail.isName(Mail.java:9)"));
        assertThat(caller("10K", mail)).as("no regular expression").isEmpty();
    }
}
