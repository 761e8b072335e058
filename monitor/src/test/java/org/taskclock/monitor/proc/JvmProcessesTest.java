// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.testing.LoadJvm;
import org.taskclock.testing.LoadProgram;

class JvmProcessesTest {
    @ParameterizedTest
    @CsvSource({
        "java org.example.Main 17, org.example.Main",
        "/usr/bin/java -Xmx1g -cp a:b org.example.Main, org.example.Main",
        "java -jar /opt/app/orders.jar --port 1, orders.jar",
        "java --module-path mods -m app/org.example.Main, org.example.Main",
        "java --module=app/org.example.Main, org.example.Main",
        "java -p mods --add-modules ALL-SYSTEM org.example.Main, org.example.Main",
        "/opt/jdk/bin/jcmd 17 Thread.print, jcmd",
        "jsvc.exec -cp a.jar org.example.Daemon, org.example.Daemon",
        "jshell, jshell",
        "java -version, java"
    })
    void shouldFindProgramNameInCommand(String command, String name) {
        assertThat(JvmProcesses.nameIn(List.of(command.split(" ", -1)))).isEqualTo(name);
    }

    @Test
    void shouldFindJvmsAndTheirVersion() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            assertThat(JvmProcesses.featureOf(load.pid()))
                    .isEqualTo(Runtime.version().feature());
            assertThat(JvmProcesses.all()).anySatisfy(jvm -> {
                assertThat(jvm.pid()).isEqualTo(load.pid());
                assertThat(jvm.name()).isEqualTo(LoadProgram.class.getName());
            });
        }
        assertThat(JvmProcesses.featureOf(1L << 30)).isZero();
    }

    @Test
    void shouldFindTheBusiestJvm() throws Exception {
        try (LoadJvm idle = LoadJvm.start("idle");
                LoadJvm busy = LoadJvm.start("kernel")) {
            List<JvmProcesses.Jvm> found = new ArrayList<>(JvmProcesses.named("loadprogram"));
            found.removeIf(jvm -> jvm.pid() != idle.pid() && jvm.pid() != busy.pid());
            assertThat(found).hasSize(2);
            for (int i = 0; i < 2; i++) {
                assertThat(JvmProcesses.busiest(found, 500).pid()).isEqualTo(busy.pid());
                Collections.reverse(found);
            }
            assertThat(JvmProcesses.busiest(List.of(), 500)).isNull();
        }
    }
}
