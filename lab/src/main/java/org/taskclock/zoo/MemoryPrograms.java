// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.IntUnaryOperator;

/** Programs that allocate too much, or make the JVM load and compile too much. */
final class MemoryPrograms {
    private static final int CHUNK = 100_000;
    private static final double FULL = 0.75;
    private static final int LINES = 3_000;
    private static final int UPLOAD = 8 << 20;
    /** Enough for the compiler to optimize a rule. */
    private static final int EVALUATIONS = 15_000;

    private static final Deque<byte[]> cache = new ArrayDeque<>();
    private static volatile Object unusedSink;

    private MemoryPrograms() {}

    static void heapFull() {
        Threads.start("cache-loader", MemoryPrograms::loadCache);
    }

    /** Keeps what it loads until the heap is nearly full, and then replaces the oldest. */
    private static void loadCache() {
        Runtime runtime = Runtime.getRuntime();
        if ((cache.size() + 1L) * CHUNK > FULL * runtime.maxMemory()) cache.removeFirst();
        cache.addLast(new byte[CHUNK]);
        for (int i = 0; i < CHUNK / 1_000; i++) unusedSink = new byte[1_000];
    }

    static void concatenate() {
        Threads.start("report-writer", MemoryPrograms::buildReport);
    }

    @SuppressWarnings("StringConcatenationInLoop") // that is the problem
    private static void buildReport() {
        String report = "";
        for (int i = 0; i < LINES; i++)
            report += "line " + i + ": all orders of this customer were delivered on time\n";
        unusedSink = report;
    }

    static void direct() {
        Threads.start("uploader", MemoryPrograms::receiveUpload);
    }

    private static void receiveUpload() {
        unusedSink = ByteBuffer.allocateDirect(UPLOAD);
    }

    /** A rule, loaded again and again under the same name. */
    public static final class Rule implements IntUnaryOperator {
        @Override
        public int applyAsInt(int value) {
            int result = value;
            for (int i = 0; i < 20; i++) {
                if ((result & 1) == 0) result = halve(result) + i;
                else result = triple(result) - digits(result);
            }
            return result;
        }

        private static int halve(int value) {
            return value / 2;
        }

        private static int triple(int value) {
            return 3 * value + 1;
        }

        private static int digits(int value) {
            int count = 0;
            for (int rest = value; rest != 0; rest /= 10) count++;
            return count;
        }
    }

    /** Loads a class that another loader has loaded, too. */
    private static final class Loader extends ClassLoader {
        private static final byte[] RULE = read();

        private static byte[] read() {
            try (InputStream in = MemoryPrograms.class.getResourceAsStream(
                    "/" + Rule.class.getName().replace('.', '/') + ".class")) {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        Loader() {
            super(MemoryPrograms.class.getClassLoader());
        }

        IntUnaryOperator rule() throws ReflectiveOperationException {
            Class<?> rule = defineClass(Rule.class.getName(), RULE, 0, RULE.length);
            return (IntUnaryOperator) rule.getConstructor().newInstance();
        }
    }

    static void compilation() {
        Threads.start("rules-engine", MemoryPrograms::evaluateRules);
    }

    private static void evaluateRules() throws ReflectiveOperationException {
        IntUnaryOperator rule = new Loader().rule();
        int sum = 0;
        for (int i = 0; i < EVALUATIONS; i++) sum += rule.applyAsInt(i);
        unusedSink = sum;
    }

    static void classLoading() {
        Threads.start("plugin-loader", MemoryPrograms::loadPlugin);
    }

    private static void loadPlugin() throws ReflectiveOperationException {
        unusedSink = new Loader().rule();
    }
}
