// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WhyTest {
    @Test
    void shouldExplainInFiveLines() throws Exception {
        try (HotJvm target = new HotJvm()) {
            CliResult result = CliResult.run("why", target.pid, "--for", "6s");
            assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.OK);
            assertThat(result.err()).isEmpty();
            assertThat(result.out().lines()).hasSize(5);
            assertThat(result.out())
                    .containsPattern("^\\S+Program \\(" + target.pid + "\\) used \\d\\.\\d\\d of \\d+ processors for ")
                    .containsPattern("\nOf that, \\d+ % by \"worker-1\" \\(\\d+ % of it system time\\)")
                    .containsPattern(
                            " In \\d of \\d thread dumps in which it ran, \"worker-1\" was in org\\.taskclock\\.cli\\.HotJvm")
                    .contains("\nNext: taskclock profile " + target.pid + " --pool ");
        }
    }

    @Test
    void shouldFailWithoutAProcess() throws Exception {
        assertThat(CliResult.run("why", "999999999"))
                .isEqualTo(new CliResult(Main.NO_PROCESS, "", "taskclock: there is no process 999999999\n"));
    }
}
