// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs each target with its seeds and with all inputs that the fuzzer found. The profile "fuzz" searches for more. */
class CorpusTest {
    private static final Path MODULE = Path.of(System.getProperty("module"));

    static List<Target> targets() {
        return Target.ALL;
    }

    @ParameterizedTest
    @MethodSource("targets")
    void shouldHandleAllKnownInputs(Target target) throws IOException {
        List<byte[]> seeds = Corpus.seeds(MODULE, target.name());
        assertThat(seeds).as("seeds").isNotEmpty();
        List<byte[]> inputs = new ArrayList<>(seeds);
        inputs.addAll(Corpus.found(MODULE, target.name()));
        // What the fuzzer tries first.
        inputs.add(new byte[0]);
        for (byte[] seed : seeds) inputs.add(Arrays.copyOf(seed, seed.length / 2));
        for (byte[] input : inputs)
            assertThatCode(() -> target.run(input))
                    .as(() -> Base64.getEncoder().encodeToString(input))
                    .doesNotThrowAnyException();
    }

    @Test
    void shouldListAllTargets() throws IOException {
        try (Stream<Path> files = Files.walk(MODULE.resolve("src/main/java"))) {
            assertThat(files.map(file -> file.getFileName().toString())
                            .filter(name -> name.endsWith("Fuzz.java"))
                            .map(name -> name.substring(0, name.length() - ".java".length())))
                    .containsExactlyInAnyOrderElementsOf(
                            Target.ALL.stream().map(Target::name).toList());
        }
    }
}
