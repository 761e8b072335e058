// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonParser;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs programs that may be missing on a developer's machine. */
final class Programs {
    private Programs() {}

    static void assumeInstalled(String program, String debianPackage) {
        boolean found = false;
        for (String directory : System.getenv("PATH").split(File.pathSeparator, -1))
            found |= Files.isExecutable(Path.of(directory, program));
        assumeTrue(found, program + " is not installed: install the package " + debianPackage);
    }

    /** Returns a program of a Go module, which is built once and kept until the next {@code mvn clean}. */
    static Path installed(String program, String module) throws IOException, InterruptedException {
        assumeInstalled("go", "golang-go");
        Path directory = Files.createDirectories(Path.of("target", "go")).toAbsolutePath();
        Path mark = directory.resolve(program + "." + module.substring(module.lastIndexOf('@') + 1));
        if (!Files.exists(mark)) {
            run(directory, "env", "GOBIN=" + directory, "go", "install", module).assertSuccess();
            Files.createFile(mark);
        }
        return directory.resolve(program);
    }

    /** Returns the directory with the source of a Go module. */
    static Path source(String module) throws IOException, InterruptedException {
        assumeInstalled("go", "golang-go");
        Process process = new ProcessBuilder("go", "mod", "download", "-json", module)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String json = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(json).isZero();
        return Path.of(JsonParser.parseString(json).getAsJsonObject().get("Dir").getAsString());
    }

    record Output(int exitCode, String text) {
        void assertSuccess() {
            assertThat(exitCode).as(text).isZero();
        }
    }

    static Output run(Path directory, String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(List.of(command))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Output(process.waitFor(), text);
    }
}
