// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code taskclock serve --fleet}. */
class ServeFleetTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--fleet prometheus:9090 | --fleet prometheus:9090: must be the address of a Prometheus API",
                "--fleet http://127.0.0.1:1 --allow-actions | --allow-actions: cannot be combined with --fleet",
                "--fleet http://127.0.0.1:1 --keep 1h,1h,1h | --keep: cannot be combined with --fleet",
                "--fleet http://127.0.0.1:1 --price -1 | --price -1.0: must be an amount",
                "--fleet http://127.0.0.1:1 --host-url x | --host-url x: must be a URL with {host} or {instance}",
                "--fleet http://127.0.0.1:1 --fleet-config /missing | --fleet-config /missing: no such file",
                "--fleet http://127.0.0.1:1 --listen :0 | --listen :0: is reachable from the network",
                "--fleet http://127.0.0.1:1 --data /dev/null | --data /dev/null: is not a directory",
                "--price 1 | --price: needs --fleet URL",
                "--host-url http://{host}/ | --host-url: needs --fleet URL",
            })
    void shouldExplainOptionsThatCannotBeUsed(String options, String message) throws Exception {
        CliResult result = CliResult.runHere(("serve " + options).split(" ", -1));
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).startsWith("taskclock: serve: " + message).hasLineCount(1);
    }

    @Test
    void shouldRunWithoutPrometheusAndSayWhatToDo() throws Exception {
        Path err = directory.resolve("err");
        Process process = CliResult.builder("serve", "--fleet", "http://127.0.0.1:1", "--listen", "127.0.0.1:0")
                .redirectError(err.toFile())
                .start();
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
            while (Files.readString(err).lines().count() < 2 && System.nanoTime() < end) Thread.sleep(20);
            assertThat(process.isAlive()).isTrue();
            assertThat(Files.readString(err).lines())
                    .anySatisfy(line -> assertThat(line)
                            .startsWith("taskclock: serve: http://127.0.0.1:1: cannot be reached: ")
                            .endsWith(": check --fleet, and whether the server runs"))
                    .anySatisfy(line -> assertThat(line).startsWith("taskclock: serve: serving on http://127.0.0.1:"));
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
