// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JvmsTest {
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
    void shouldNameThem(String command, String name) {
        assertThat(Jvms.nameIn(List.of(command.split(" ", -1)))).isEqualTo(name);
    }

    @Test
    void shouldTellWhichJavaAJvmRuns() throws Exception {
        try (Loaded load = Loaded.with("idle")) {
            assertThat(Jvms.featureOf(load.pid())).isEqualTo(Runtime.version().feature());
            assertThat(Jvms.all()).anySatisfy(jvm -> {
                assertThat(jvm.pid()).isEqualTo(load.pid());
                assertThat(jvm.name()).isEqualTo(Load.class.getName());
            });
        }
        assertThat(Jvms.featureOf(1L << 30)).isZero();
    }
}
