// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks the types in the scripts of the page with the TypeScript compiler. */
@Tag("slow17")
class PageTypesTest {
    @Test
    void shouldHaveNoTypeErrors() throws Exception {
        NodeModules.install();
        NodeModules.Output output = NodeModules.run("node", "node_modules/typescript/bin/tsc", "-p", ".");
        assertThat(output.exitCode()).as(output.text()).isZero();
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
