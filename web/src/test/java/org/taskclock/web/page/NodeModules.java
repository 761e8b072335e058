// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Frame;
import com.microsoft.playwright.Page;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The packages that check the page, which are kept until the next {@code mvn clean}. */
final class NodeModules {
    private static final Path SOURCES = Path.of("src", "test", "web");
    private static final Path DIRECTORY = Path.of("target", "page-types");

    record Output(int exitCode, String text) {}

    private NodeModules() {}

    /** Installs the packages, or skips the test if npm is missing. */
    static synchronized void install() throws IOException, InterruptedException {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "npm"))),
                "npm is not installed: the page is not checked (Debian: apt install npm)");
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

    /** Fails if a page violates a rule of axe-core, in its frames, too. */
    static void checkAccess(Page page, String what) throws IOException {
        String script = Files.readString(DIRECTORY.resolve("node_modules/axe-core/axe.min.js"));
        for (Frame frame : page.frames()) {
            frame.evaluate(script);
            Object violations = frame.evaluate("""
                    async () => (await axe.run({exclude: ['iframe']}, {resultTypes: ['violations']})).violations
                      .map(({id, nodes}) => id + ': ' + nodes.slice(0, 3).map(({html}) => html).join(' '))
                    """);
            assertThat((List<?>) violations).as(what + " " + frame.name()).isEmpty();
        }
    }

    /** Runs a program in the directory of the packages. */
    static Output run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(DIRECTORY.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Output(process.waitFor(), text);
    }
}
