// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The options that the files in deploy/ pass to the exporter and to serve. */
class DeploymentOptionsTest {
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z.-]*[a-z]");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kubernetes/taskclock/templates/daemonset.yaml",
                "systemd/taskclock-exporter.service",
                "systemd/taskclock-serve.service"
            })
    void shouldExist(String file) throws IOException {
        Set<String> known = new TreeSet<>();
        for (Object command : new Object[] {new ExporterCommand(), new ServeCommand()})
            known.addAll(new CommandLine(command).getCommandSpec().optionsMap().keySet());
        Matcher options =
                OPTION.matcher(Files.readString(Path.of("..", "deploy").resolve(file)));
        int count = 0;
        for (; options.find(); count++) assertThat(known).contains(options.group());
        assertThat(count).isPositive();
    }
}
