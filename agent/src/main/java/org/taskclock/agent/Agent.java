// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;

/**
 * Where the JVM enters the agent. All else is loaded by an {@link AgentLoader}, so that the program sees nothing of it and
 * may have another TaskClock of its own.
 */
public final class Agent {
    /** System property in which the state is left, for whoever attached us to read. */
    private static final String STATE_PROPERTY = "taskclock.agent";

    /**
     * At the end of the options of {@code taskclock attach}: a file for the state. The JVM can be asked for the property too, but then loads
     * 150 classes to put the date above it.
     */
    private static final String REPLY = ";reply=";

    /** Null before the first use. Keeps what was loaded, so that all later uses find it again. */
    private static AgentLoader loaded;

    private Agent() {}

    /** With {@code -javaagent}, before the program starts. */
    public static void premain(String options, Instrumentation jvm) {
        start(options, jvm, false);
    }

    /** By attaching to a JVM that runs. */
    public static void agentmain(String options, Instrumentation jvm) {
        start(options, jvm, true);
    }

    private static synchronized void start(String text, Instrumentation jvm, boolean running) {
        int replyAt = text == null ? -1 : text.lastIndexOf(REPLY);
        String options = replyAt < 0 ? text : text.substring(0, replyAt);
        String state;
        try {
            if (loaded == null) {
                AgentLoader loader = new AgentLoader(jvm);
                Thread preloader = new Thread(null, loader, "taskclock-preloader", 0, false);
                preloader.setDaemon(true);
                preloader.start();
                // Its initializer gives itself to the loader: reflection would cost a start milliseconds.
                Class.forName("org.taskclock.agent.Agency", true, loader);
                loaded = loader;
            }
            state = loaded.agency().apply(options, running);
        } catch (IllegalArgumentException e) {
            state = failed(e.getMessage());
        } catch (Throwable e) {
            state = failed(e.toString());
        }
        System.setProperty(STATE_PROPERTY, state);
        if (replyAt >= 0) reply(new File(text.substring(replyAt + REPLY.length())), state);
    }

    /** Not into a file that is there already, or to which somebody made a link. */
    private static void reply(File file, String state) {
        try {
            if (!file.createNewFile()) return;
            try (FileOutputStream out = new FileOutputStream(file)) {
                out.write(state.getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            return; // the property has it too
        }
    }

    /** The program goes on without us, whatever it was. */
    private static String failed(String reason) {
        System.err.println("taskclock: agent: " + reason);
        return "failed: " + reason;
    }
}
