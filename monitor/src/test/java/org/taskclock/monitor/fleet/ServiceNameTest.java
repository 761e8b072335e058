// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.monitor.proc.TargetText;

class ServiceNameTest {
    private static final long SELF = ProcessHandle.current().pid();

    @Test
    void shouldUseTheFirstRuleThatGivesAName() {
        String main = new ServiceName(List.of()).of(SELF);
        assertThat(main).isNotEmpty();
        assertThat(new ServiceName(List.of("env:TASKCLOCK_NOT_SET", "main")).of(SELF))
                .isEqualTo(main);
        assertThat(new ServiceName(List.of("env:TASKCLOCK_NOT_SET")).of(SELF)).isEqualTo(main);
        assertThat(new ServiceName(List.of("env:PATH")).of(SELF)).isEqualTo(TargetText.sanitize(System.getenv("PATH")));
        assertThat(new ServiceName(List.of("regex:no such text", "regex:(jav).")).of(SELF))
                .isEqualTo("jav");
    }

    @ParameterizedTest
    @CsvSource({"name=([a-z]+), orders", "name=[a-z]+, name=orders", "(x)?name, ''", "none, ''"})
    void shouldMatchTheCommandLine(String pattern, String name) {
        assertThat(ServiceName.match(pattern, "java -Dname=orders Main")).isEqualTo(name);
    }

    /** Each takes hours, or more stack than there is. */
    @ParameterizedTest
    @CsvSource({"(.*x){12}y, x", "(.*a)(.*a)(.*a)(.*a)(.*a)(.*a)b, a", "(?:a|b)*c, ab"})
    void shouldGiveUpPatternsThatTakeTooLong(String pattern, String part) {
        String command = part.repeat(60_000);
        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> assertThat(ServiceName.match(pattern, command))
                .isEmpty());
        assertThat(ServiceName.match("app=(\\w+)", command + " app=orders")).isEqualTo("orders");
    }

    @ParameterizedTest
    @CsvSource({
        "java -Xmx1g -jar /opt/orders-2.3.jar --port 80, orders-2.3",
        "java -jar orders.jar, orders",
        "java -jar /opt/a.jar.d/orders, orders",
        "java -jar orders.jar.jar, orders.jar",
        "java -jar, ''",
        "java -cp orders.jar Main, ''"
    })
    void shouldNameTheJarWithoutItsExtension(String command, String name) {
        assertThat(ServiceName.jar(List.of(command.split(" ")))).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "name", "env:", "regex:(", "Main"})
    void shouldRejectOtherRules(String rule) {
        assertThatThrownBy(() -> new ServiceName(List.of(rule)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("--service " + rule);
    }

    @Test
    void shouldCutLongNamesAndReplaceWhatCannotBeEncoded() {
        assertThat(TargetText.sanitize("a\ud83d\ude00b\ud83dc\ude00")).isEqualTo("a\ud83d\ude00b\ufffdc\ufffd");
        assertThat(TargetText.sanitize("plain")).isEqualTo("plain");
        assertThat(TargetText.sanitize("x".repeat(120_000))).isEqualTo("x".repeat(200) + "~");
    }
}
