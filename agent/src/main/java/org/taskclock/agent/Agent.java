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
    private static final String STATE_PROPERTY = "taskclock.agent";

    /**
     * Separates the options from the name of a file for the state. {@code taskclock attach} appends both. It could read
     * the property instead, but the JVM loads 150 classes to print the date above its properties.
     */
    private static final String REPLY = ";reply=";

    /** Null before the first use. Kept so that later uses share the same classes. */
    private static AgentLoader loaded;

    private Agent() {}

    /** Starts the agent before the program, with {@code -javaagent}. */
    public static void premain(String options, Instrumentation instrumentation) {
        start(options, instrumentation, false);
    }

    /** Starts the agent in a running JVM, or changes its options. */
    public static void agentmain(String options, Instrumentation instrumentation) {
        start(options, instrumentation, true);
    }

    private static synchronized void start(String text, Instrumentation instrumentation, boolean isProgramRunning) {
        int replyAt = text == null ? -1 : text.lastIndexOf(REPLY);
        String options = replyAt < 0 ? text : text.substring(0, replyAt);
        String state;
        try {
            if (loaded == null) {
                AgentLoader loader = new AgentLoader(instrumentation);
                Thread preloader = new Thread(null, loader, "taskclock-preloader", 0, false);
                preloader.setDaemon(true);
                preloader.start();
                // The class's initializer passes an instance to the loader: reflection would add milliseconds to the
                // start.
                Class.forName("org.taskclock.agent.AgentController", true, loader);
                loaded = loader;
            }
            state = loaded.controller().apply(options, isProgramRunning);
        } catch (IllegalArgumentException e) {
            state = failed(e.getMessage());
        } catch (Throwable e) {
            state = failed(e.toString());
        }
        System.setProperty(STATE_PROPERTY, state);
        if (replyAt >= 0) reply(new File(text.substring(replyAt + REPLY.length())), state);
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
    private static String failed(String reason) {
        System.err.println("taskclock: agent: " + reason);
        return "failed: " + reason;
    }
}
