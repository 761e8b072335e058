// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.Instrumentation;

/**
 * Where the JVM enters the agent. All else is loaded by an {@link AgentLoader}, so that the program sees nothing of it and
 * may have another TaskClock of its own.
 */
public final class Agent {
    /** System property in which the state is left, for whoever attached us to read. */
    private static final String STATE_PROPERTY = "taskclock.agent";

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

    private static synchronized void start(String options, Instrumentation jvm, boolean running) {
        String state;
        try {
            if (loaded == null) {
                AgentLoader loader = new AgentLoader(jvm);
                // Its initializer gives itself to the loader: reflection would cost a start milliseconds.
                Class.forName("org.taskclock.agent.Agency", true, loader);
                loaded = loader;
            }
            state = loaded.agency.apply(options, running);
        } catch (IllegalArgumentException e) {
            state = failed(e.getMessage());
        } catch (Exception | LinkageError e) {
            state = failed(e.toString());
        }
        System.setProperty(STATE_PROPERTY, state);
    }

    /** The program goes on without us, whatever it was. */
    private static String failed(String reason) {
        System.err.println("taskclock: agent: " + reason);
        return "failed: " + reason;
    }
}
