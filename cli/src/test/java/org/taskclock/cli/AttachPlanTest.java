// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The validation of agent options by {@code attach --dry-run}. */
class AttachPlanTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "threadmxbean=on",
                "threadmxbean=off",
                "threadmxbean=read",
                "vthreads=off",
                "vthreads=",
                "virtual=spec",
                "virtual=mxbean",
                "virtual=on",
                "yield=pass",
                "yield=COUNT",
                "yield=off",
                "yield=sometimes",
                "yield",
                "virtual-yield=pass",
                "virtual-yield=count",
                "virtual-yield=off",
                "virtual-yield=on",
                "bean=on",
                "bean=read",
                "bean=off",
                "bean=write",
                "jfr=on",
                "jfr=off",
                "jfr=read",
                "rseq-take=on",
                "rseq-take=off",
                "rseq-take=read",
                "accounts=off",
                "accounts=endpoint",
                "accounts=Topic+ENDPOINT+group",
                "accounts=",
                "accounts=off+endpoint",
                "accounts=endpoint+",
                "accounts=on",
                "summary=/tmp/Summaries",
                "summary=",
                "bogus=on",
                "=on",
                " bean = read , jfr=off ",
                "jfr=on,,bean=on"
            })
    void shouldAcceptTheOptionsThatTheAgentAccepts(String options) throws ReflectiveOperationException {
        String expected = agentError(options);
        if (expected == null) {
            assertThat(AttachPlan.parse(options)).isNotNull();
        } else {
            assertThatThrownBy(() -> AttachPlan.parse(options))
                    .isInstanceOf(IllegalArgumentException.class)
                    // The agent adds that it also accepts detach.
                    .satisfies(e -> assertThat(expected).startsWith(e.getMessage()));
        }
    }

    /** Returns the agent's error message, or null if the options are valid. */
    private static String agentError(String options) throws ReflectiveOperationException {
        Method parse = Class.forName("org.taskclock.agent.Options").getDeclaredMethod("parse", String.class);
        parse.setAccessible(true);
        try {
            parse.invoke(null, options);
            return null;
        } catch (InvocationTargetException e) {
            assertThat(e.getCause()).isInstanceOf(IllegalArgumentException.class);
            return e.getCause().getMessage();
        }
    }

    @Test
    void shouldTellThatAreasAreTakenOnlyIfThatIsAllowed() {
        assertThat(changes("rseq-take=on")).anyMatch(change -> change.contains("restartable-sequences area"));
        assertThat(changes("rseq-take=off")).noneMatch(change -> change.contains("restartable-sequences area"));
        assertThat(changes("")).noneMatch(change -> change.contains("restartable-sequences area"));
    }

    @Test
    void shouldTellWhichClassesOfTheProgramAreChanged() {
        assertThat(changes("accounts=endpoint")).anyMatch(change -> change.startsWith("retransforms HttpServlet"));
        assertThat(changes("accounts=topic+group")).anyMatch(change -> change.contains("Spring Kafka"));
        assertThat(changes("accounts=group")).noneMatch(change -> change.contains("retransforms"));
    }

    private static List<String> changes(String options) {
        return AttachPlan.of(1, Runtime.version().feature(), AttachPlan.parse(options))
                .changes();
    }

    @Test
    void shouldIgnoreTheCaseOfValues() {
        assertThat(AttachPlan.parse("yield=COUNT, bean=Read,summary=/tmp/Summaries"))
                .isEqualTo(Map.of("yield", "count", "bean", "read", "summary", "/tmp/Summaries"));
        String plan = AttachPlan.of(1, 25, AttachPlan.parse("yield=COUNT")).text();
        assertThat(plan).contains("behind Thread.yield");
    }
}
