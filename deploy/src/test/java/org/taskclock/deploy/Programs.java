// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
