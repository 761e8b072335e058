// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import java.util.List;
import java.util.regex.Pattern;

/** A program that misbehaves, and what is known about it. */
public final class Misbehavior {
    private static final Pattern NOTHING = Pattern.compile("(?!)");

    private final String name;
    private final String cause;
    private final Runnable start;
    private Pattern threads = NOTHING;
    private Pattern methods = NOTHING;
    private Pattern words = NOTHING;
    private List<String> kinds = List.of();
    private List<String> consequences = List.of();
    private List<String> options = List.of();
    private List<String> forbidden = List.of();
    private boolean virtual;
    private boolean accounts;
    private double limit;
    private boolean heldOut;

    /** @param start starts the threads */
    Misbehavior(String name, String cause, Runnable start) {
        this.name = name;
        this.cause = cause;
        this.start = start;
    }

    /** Sets patterns for the names of the threads at fault, and for the methods that cause it. */
    Misbehavior in(String threadNames, String methodNames) {
        threads = Pattern.compile(threadNames);
        methods = Pattern.compile(methodNames);
        return this;
    }

    /** Sets the findings that name the cause. */
    Misbehavior found(String... findings) {
        kinds = List.of(findings);
        return this;
    }

    /** Sets findings that are true as well, but do not name the cause. */
    Misbehavior causing(String... findings) {
        consequences = List.of(findings);
        return this;
    }

    /** Sets a pattern for the words in which other tools name the cause. */
    Misbehavior called(String inOtherTools) {
        words = Pattern.compile(inOtherTools, Pattern.CASE_INSENSITIVE);
        return this;
    }

    /** Sets findings that would be wrong. There is nothing to find, although the program looks as if there were. */
    Misbehavior notFound(String... findings) {
        forbidden = List.of(findings);
        return this;
    }

    /** Sets the processors that its control group may use. */
    Misbehavior limited(double processors) {
        limit = processors;
        return this;
    }

    Misbehavior usingAccounts() {
        accounts = true;
        return this;
    }

    Misbehavior usingVirtualThreads() {
        virtual = true;
        return this;
    }

    Misbehavior heldOut() {
        heldOut = true;
        return this;
    }

    Misbehavior with(String... jvmOptions) {
        options = List.of(jvmOptions);
        return this;
    }

    public String name() {
        return name;
    }

    /** Returns the cause in words. */
    public String cause() {
        return cause;
    }

    /** Returns the findings that name the cause; empty if there is none. */
    public List<String> kinds() {
        return kinds;
    }

    /** Returns whether there is nothing to find. */
    public boolean isHarmless() {
        return !forbidden.isEmpty();
    }

    /** Returns the findings that would be wrong. */
    public List<String> forbidden() {
        return forbidden;
    }

    /** Returns the processors that it may use; 0 if there is no limit. */
    public double limit() {
        return limit;
    }

    /** Returns whether its findings need the agent. */
    public boolean needsAgent() {
        return virtual || accounts;
    }

    /** Returns whether the findings were developed without it. */
    public boolean isHeldOut() {
        return heldOut;
    }

    /** Returns options of the JVM. */
    public List<String> options() {
        return options;
    }

    public boolean usesVirtualThreads() {
        return virtual;
    }

    public boolean isCause(String kind) {
        return kinds.contains(kind);
    }

    public boolean isConsequence(String kind) {
        return consequences.contains(kind);
    }

    /** Returns whether a text names a thread at fault. */
    public boolean namesThread(String text) {
        return threads.matcher(text).find();
    }

    /** Returns whether a text names a method that causes it. */
    public boolean namesMethod(String text) {
        return methods.matcher(text.replace('/', '.')).find();
    }

    /** Returns whether a text of another tool names the cause in words, other than in the name of a thread. */
    public boolean namesCause(String text) {
        return words.matcher(threads.matcher(text).replaceAll("")).find();
    }

    void start() {
        start.run();
    }
}
