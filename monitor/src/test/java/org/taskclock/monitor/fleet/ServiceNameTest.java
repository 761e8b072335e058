// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.TargetText;

class ServiceNameTest {
    private static final long SELF = ProcessHandle.current().pid();

    private static String nameOf(List<String> rules) {
        return new ServiceName(rules).of(SELF, JvmProcesses.command(SELF), "");
    }

    @Test
    void shouldUseTheFirstRuleThatGivesAName() {
        String main = nameOf(List.of());
        assertThat(main).isNotEmpty();
        assertThat(nameOf(List.of("env:TASKCLOCK_NOT_SET", "main"))).isEqualTo(main);
        assertThat(nameOf(List.of("env:TASKCLOCK_NOT_SET"))).isEqualTo(main);
        assertThat(nameOf(List.of("env:PATH"))).isEqualTo(TargetText.sanitize(System.getenv("PATH")));
        assertThat(nameOf(List.of("regex:no such text", "regex:(jav)."))).isEqualTo("jav");
        assertThat(new ServiceName(List.of()).of(SELF, List.of(), "orders")).isEqualTo("orders");
        assertThat(new ServiceName(List.of("main", "otel")).of(SELF, List.of(), "orders"))
                .isEqualTo(main);
        assertThat(new ServiceName(List.of("otel", "jar")).of(SELF, List.of("java", "-jar", "a.jar"), ""))
                .isEqualTo("a");
    }

    /** As OpenTelemetry's conventions want it where nothing names the service. */
    @Test
    void shouldHaveANameWhereNothingNamesTheService() {
        assertThat(new ServiceName(List.of()).of(Integer.MAX_VALUE, List.of(), ""))
                .isEqualTo("unknown_service:java");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
            java                              | a       | service.version=1 | a | 1
            java -Dotel.service.name=b        | a       | service.version=1 | b | 1
            java                              |         | service.name=c%20d,service.version=1+2 | c d | 1+2
            java -Dotel.resource.attributes=x=1, service.name = e | | service.name=c | e |
            java                              | a       | =,service.version,service.version=% | a | %
            java                              |         |   |   |
            """)
    void shouldReadTheConfigurationOfOpenTelemetry(
            String command, String serviceName, String attributes, String name, String version) {
        Map<String, String> environment = new HashMap<>();
        environment.put("OTEL_SERVICE_NAME", serviceName);
        environment.put("OTEL_RESOURCE_ATTRIBUTES", attributes);
        OtelService service = OtelService.of(
                List.of(command.split(" (?=-)")),
                variable -> environment.get(variable) == null ? "" : environment.get(variable));
        assertThat(service.name()).isEqualTo(name == null ? "" : name);
        assertThat(service.version()).isEqualTo(version == null ? "" : version);
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
