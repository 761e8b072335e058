// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks the types in the scripts of the page with the TypeScript compiler. */
@Tag("slow17")
class PageTypesTest {
    private static final Path SOURCES = Path.of("src", "test", "web");
    private static final Path DIRECTORY = Path.of("target", "page-types");

    private record Output(int exitCode, String text) {}

    private static Output run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(DIRECTORY.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Output(process.waitFor(), text);
    }

    /** Installs the compiler, which is kept until the next {@code mvn clean}. */
    private static void install() throws IOException, InterruptedException {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "npm"))),
                "npm is not installed: the types of the page are not checked (Debian: apt install npm)");
        Files.createDirectories(DIRECTORY);
        Files.writeString(DIRECTORY.resolve("tsconfig.json"), Files.readString(SOURCES.resolve("tsconfig.json")));
        String wanted = Files.readString(SOURCES.resolve("package.json"));
        Path installed = DIRECTORY.resolve("package.json");
        if (Files.exists(installed) && Files.readString(installed).equals(wanted)) return;
        Files.writeString(installed, wanted);
        Output output = run("npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts");
        if (output.exitCode != 0) Files.delete(installed);
        assertThat(output.exitCode).as(output.text).isZero();
    }

    private static Output check() throws IOException, InterruptedException {
        return run("node", "node_modules/typescript/bin/tsc", "-p", ".");
    }

    @Test
    void shouldHaveNoTypeErrors() throws Exception {
        install();
        Output output = check();
        assertThat(output.exitCode).as(output.text).isZero();
    }

    @Test
    void shouldCheckEveryScript() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src", "main", "web"))) {
            List<Path> scripts =
                    files.filter(file -> file.toString().endsWith(".js")).toList();
            assertThat(scripts).hasSizeGreaterThan(20);
            for (Path script : scripts) {
                String text = Files.readString(script);
                assertThat(text).as(script.toString()).contains("// @ts-check");
                // Names of threads are hostile text.
                assertThat(text)
                        .as(script.toString())
                        .doesNotContainPattern("innerHTML|outerHTML|insertAdjacent|document\\.write|eval\\(");
            }
        }
    }
}
