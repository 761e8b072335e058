// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The inputs of a target: seeds, which are readable files in {@code seeds/TARGET}, and inputs that the fuzzer found, in
 * {@code corpus/TARGET}, each in a line as Base64.
 */
final class Corpus {
    /** The found inputs that are kept of each target, shortest first, so that the repository stays small. */
    private static final int MAX_INPUTS = 150;

    private static final int MAX_BYTES = 1_500;

    private Corpus() {}

    static List<byte[]> seeds(Path module, String target) throws IOException {
        return files(module.resolve("seeds").resolve(target));
    }

    /** Returns the inputs that were found earlier; none for a new target. */
    static List<byte[]> found(Path module, String target) throws IOException {
        Path file = module.resolve("corpus").resolve(target);
        if (!Files.exists(file)) return List.of();
        return Files.readAllLines(file).stream()
                .map(Base64.getDecoder()::decode)
                .toList();
    }

    /** Returns the contents of all files in a directory, in the order of their names. */
    static List<byte[]> files(Path directory) throws IOException {
        List<byte[]> contents = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) contents.add(Files.readAllBytes(file));
        }
        return contents;
    }

    /** Replaces the found inputs. */
    static void save(Path module, String target, List<byte[]> inputs) throws IOException {
        List<String> lines = inputs.stream()
                .filter(input -> input.length <= MAX_BYTES)
                .sorted(Comparator.comparingInt(input -> input.length))
                .limit(MAX_INPUTS)
                .map(Base64.getEncoder()::encodeToString)
                .toList();
        Files.write(Files.createDirectories(module.resolve("corpus")).resolve(target), lines);
    }
}
