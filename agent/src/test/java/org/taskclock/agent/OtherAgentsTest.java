// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.internal.JdkVersions;

/**
 * Runs the agent together with the agents of other projects, which transform the agent's classes too. Each JVM takes
 * seconds to start, so each test checks as much as possible in one JVM.
 */
class OtherAgentsTest {
    /** Keeps the other agents from connecting to servers and from logging. */
    private static final List<String> SETTINGS = List.of(
            "-Dotel.javaagent.logging=none",
            "-Dotel.traces.exporter=none",
            "-Dotel.metrics.exporter=none",
            "-Dotel.logs.exporter=none",
            "-Ddd.trace.startup.logs=false",
            "-Ddd.instrumentation.telemetry.enabled=false",
            "-Ddd.remote_config.enabled=false",
            "-Ddd.jmxfetch.enabled=false",
            "-Ddatadog.slf4j.simpleLogger.defaultLogLevel=off",
            "-Delastic.apm.log_level=OFF",
            "-Delastic.apm.central_config=false",
            "-Delastic.apm.disable_send=true",
            // The JVM warns that it shares fewer classes when an agent appends to the boot class path.
            "-XX:-PrintWarnings");

    private static JvmLauncher quietly() {
        JvmLauncher jvm = JvmLauncher.withoutAgent().option(SETTINGS.toArray(String[]::new));
        // Other agents use native access and sun.misc.Unsafe.
        if (JvmLauncher.feature() >= JdkVersions.FOREIGN_FUNCTIONS) jvm.option("--enable-native-access=ALL-UNNAMED");
        return JvmLauncher.feature() >= JdkVersions.UNSAFE_OPTION
                ? jvm.option("--sun-misc-unsafe-memory-access=allow")
                : jvm;
    }

    private static String agent(String name) {
        String jar = "-javaagent:" + System.getProperty("agents.dir") + "/" + name + ".jar";
        return name.equals("jacoco") ? jar + "=output=none" : jar;
    }

    @ParameterizedTest
    @CsvSource({
        "jacoco, true",
        "jacoco, false",
        "opentelemetry, true",
        "opentelemetry, false",
        "datadog, true",
        "datadog, false",
        "elastic, true",
        "elastic, false"
    })
    void shouldWorkWithOtherAgents(String other, boolean isFirst) throws IOException, InterruptedException {
        String ours = "-javaagent:" + System.getProperty("agent.jar") + "=yield=count";
        quietly()
                .option(isFirst ? agent(other) : ours, isFirst ? ours : agent(other))
                .run(WithOtherAgent.class, other)
                .assertSilent();
    }

    static final class WithOtherAgent {
        public static void main(String[] args) throws Exception {
            assertIsLoaded(args[0]);
            AgentCheck.main(new String[0]);
            AgentCheck.bean().detach();
            assertThat(System.getProperty("taskclock.agent")).endsWith("; detached");
        }
    }

    /** The agents change the same methods of servlets, each as the other one has left them. */
    @ParameterizedTest
    @CsvSource({"opentelemetry, true", "datadog, false", "elastic, true", "elastic, false"})
    void shouldCountServletsThatOtherAgentsChange(String other, boolean isFirst)
            throws IOException, InterruptedException {
        String ours = "-javaagent:" + System.getProperty("agent.jar") + "=accounts=endpoint";
        quietly()
                .option(isFirst ? agent(other) : ours, isFirst ? ours : agent(other))
                .option(ProgramAccountsTest.QUIET)
                .run(ProgramAccountsTest.Servlets.class, "false")
                .assertSilent();
    }

    private static void assertIsLoaded(String other) throws ClassNotFoundException {
        if (other.equals("jacoco")) {
            assertThat(AgentCheck.class.getDeclaredMethods())
                    .extracting(Method::getName)
                    .contains("$jacocoInit");
            return;
        }
        String type =
                switch (other) {
                    case "opentelemetry" -> "io.opentelemetry.javaagent.bootstrap.AgentInitializer";
                    case "datadog" -> "datadog.trace.bootstrap.Agent";
                    case "elastic" -> "java.lang.IndyBootstrapDispatcher";
                    default -> throw new IllegalArgumentException(other);
                };
        assertThat(Class.forName(type, false, null)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"opentelemetry", "datadog", "elastic"})
    void shouldAttachToAProgramWithAnotherAgent(String other) throws IOException, InterruptedException {
        quietly()
                .option(agent(other), "-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .option("-Dagent.jar=" + System.getProperty("agent.jar"))
                .run(Attaching.class, other)
                .assertSilent();
    }

    static final class Attaching {
        public static void main(String[] args) throws Exception {
            assertIsLoaded(args[0]);
            VirtualMachine self =
                    VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            String jar = System.getProperty("agent.jar");
            self.loadAgent(jar, "yield=count");
            AgentCheck.main(new String[] {AgentCheck.ATTACHED});
            self.loadAgent(jar, "detach");
            assertThat(System.getProperty("taskclock.agent"))
                    .contains("threadmxbean=off,yield=pass")
                    .endsWith("; detached");
            self.loadAgent(jar, "");
            assertThat(System.getProperty("taskclock.agent"))
                    .contains("threadmxbean=on")
                    .doesNotContain("unavailable");
            self.detach();
        }
    }
}
