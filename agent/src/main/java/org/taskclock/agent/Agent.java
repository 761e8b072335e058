// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;

/**
 * The agent's entry point for the JVM. An {@link AgentLoader} loads everything else, so the program does not see it and
 * can use another version of TaskClock.
 */
public final class Agent {
    /** System property with the agent's state, for the tool that attached the agent. */
    static final String STATE_PROPERTY = "taskclock.agent";

    /**
     * Separates the options from the name of a file for the state. {@code taskclock attach} appends both. It could read
     * the property instead, but the JVM loads 150 classes to print the date above its properties.
     */
    private static final String REPLY = ";reply=";

    private static final String REMEDY = ": the security manager restricts the agent: add to the policy:"
            + " grant codeBase \"file:/path/to/taskclock-agent.jar\" { permission java.security.AllPermission; };";

    private Agent() {}

    /** Starts the agent before the program, with {@code -javaagent}. */
    public static void premain(String options, Instrumentation instrumentation) {
        start(options, instrumentation, false);
    }

    /** Starts the agent in a running JVM, or changes its options. */
    public static void agentmain(String options, Instrumentation instrumentation) {
        start(options, instrumentation, true);
    }

    /** Throws nothing: if premain throws, the JVM ends the program. */
    private static synchronized void start(String text, Instrumentation instrumentation, boolean isProgramRunning) {
        try {
            int replyAt = text == null ? -1 : text.lastIndexOf(REPLY);
            String options = replyAt < 0 ? text : text.substring(0, replyAt);
            String state = configure(options, instrumentation, isProgramRunning);
            setProperty(state);
            if (replyAt >= 0) reply(new File(text.substring(replyAt + REPLY.length())), state);
        } catch (Throwable e) {
            return; // even reporting a failure failed, for example because the heap is full
        }
    }

    /** Applies the options and returns the state. Logs a failure. */
    private static String configure(String options, Instrumentation instrumentation, boolean isProgramRunning) {
        try {
            String state = configureLoaded(options, isProgramRunning);
            return state == null ? load(options, instrumentation, isProgramRunning) : state;
        } catch (Throwable e) {
            return failed(e);
        }
    }

    /** Passes the options to the controller that an earlier call has loaded. Returns null if there is none. */
    private static String configureLoaded(String options, boolean isProgramRunning) {
        try {
            Class.forName("java.lang.TaskClockHooks", false, null);
        } catch (ClassNotFoundException e) {
            return null;
        }
        return TaskClockHooks.configure(options, isProgramRunning);
    }

    /** Loads the controller. It holds the instrumentation, so this class, which a program can inspect, does not. */
    private static String load(String options, Instrumentation instrumentation, boolean isProgramRunning)
            throws Exception {
        AgentLoader loader = new AgentLoader(instrumentation);
        Thread preloader = new Thread(null, loader, "taskclock-preloader", 0, false);
        preloader.setDaemon(true);
        preloader.start();
        // The class's initializer passes an instance to the loader: reflection would add milliseconds to the start.
        Class.forName("org.taskclock.agent.AgentController", true, loader);
        return loader.controller().apply(options, isProgramRunning);
    }

    private static void setProperty(String state) {
        try {
            System.setProperty(STATE_PROPERTY, state);
        } catch (SecurityException e) {
            return; // the state says so
        }
    }

    /** Writes the state to a new file. Does nothing if the file, or a link with its name, exists. */
    private static void reply(File file, String state) {
        try {
            if (!file.createNewFile()) return;
            try (FileOutputStream out = new FileOutputStream(file)) {
                out.write(state.getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            return; // the property has the state too
        }
    }

    /** Logs a failure and returns the state that describes it. The program runs on without the agent. */
    private static String failed(Throwable failure) {
        String reason = failure instanceof IllegalArgumentException ? failure.getMessage() : failure.toString();
        for (Throwable cause = failure; cause != null; cause = cause.getCause())
            if (cause instanceof SecurityException) reason = cause.getMessage() + REMEDY;
        System.err.println("taskclock: agent: " + reason);
        return "failed: " + reason;
    }
}
