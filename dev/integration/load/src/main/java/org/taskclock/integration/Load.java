// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import javax.management.JMException;
import javax.management.ObjectName;

/** Counts the operations of an engine under load, and checks that each question always gets the same answer. */
public final class Load implements LoadMXBean {
    private final LongAdder operations = new LongAdder();
    private final LongSupplier source;
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private long errors;
    private String firstError = "";

    private Load(LongSupplier source) {
        this.source = source;
    }

    /** Registers a load whose operations are counted by {@link #answer}. */
    public static Load register() throws JMException {
        return register(null);
    }

    /** Registers a load whose operations the engine counts itself. */
    public static Load register(LongSupplier operations) throws JMException {
        Load load = new Load(operations);
        ManagementFactory.getPlatformMBeanServer().registerMBean(load, new ObjectName(NAME));
        return load;
    }

    /** Counts one operation and compares its answer with earlier ones. */
    public void answer(String question, String answer) {
        String digest = digest(answer);
        String earlier = answers.putIfAbsent(question, digest);
        if (earlier != null && !earlier.equals(digest)) {
            fail(new IllegalStateException("different answer to " + question + ": " + answer));
        }
        operations.increment();
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Counts an error, and prints it if it is one of the first. */
    public synchronized void fail(Throwable e) {
        if (errors++ == 0) firstError = e.toString();
        if (errors < 10) e.printStackTrace();
    }

    /** Waits until standard input ends, so that the program does not outlive the soak test, and exits. */
    public static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {}
        System.exit(0);
    }

    @Override
    public long getOperations() {
        return source == null ? operations.sum() : source.getAsLong();
    }

    @Override
    public synchronized long getErrors() {
        return errors;
    }

    @Override
    public synchronized String getFirstError() {
        return firstError;
    }

    @Override
    public Map<String, String> getAnswers() {
        return new TreeMap<>(answers);
    }
}
