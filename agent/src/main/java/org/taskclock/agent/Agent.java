// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * Where the JVM enters the agent. All else is loaded by an {@link AgentLoader}, so that the program sees nothing of it and
 * may have another TaskClock of its own.
 */
public final class Agent {
    /** System property in which the state is left, for whoever attached us to read. */
    private static final String STATE_PROPERTY = "taskclock.agent";

    /** {@code Agency.apply}; null before the first use. Keeps what was loaded, so that all later uses find it again. */
    private static Method apply;

    private Agent() {}

    /** With {@code -javaagent}, before the program starts. */
    public static void premain(String options, Instrumentation jvm) {
        start(options, jvm, false);
    }

    /** By attaching to a JVM that runs. */
    public static void agentmain(String options, Instrumentation jvm) {
        start(options, jvm, true);
    }

    private static synchronized void start(String options, Instrumentation jvm, boolean attached) {
        String state;
        try {
            if (apply == null) {
                Class<?> agency = new AgentLoader().loadClass("org.taskclock.agent.Agency");
                apply = agency.getMethod("apply", String.class, Instrumentation.class, boolean.class);
            }
            state = (String) apply.invoke(null, options, jvm, attached);
        } catch (InvocationTargetException e) {
            state = failed(e.getCause());
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            state = failed(e);
        }
        System.setProperty(STATE_PROPERTY, state);
    }

    /** The program goes on without us, whatever it was. */
    private static String failed(Throwable e) {
        String reason = e instanceof IllegalArgumentException ? e.getMessage() : e.toString();
        System.err.println("taskclock: agent: " + reason);
        return "failed: " + reason;
    }
}
