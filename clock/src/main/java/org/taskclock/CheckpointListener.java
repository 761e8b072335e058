// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Has the rung chosen anew after a checkpoint was restored, on JDKs that say so (CRaC, package jdk.crac). Elsewhere readings
 * notice it, and go on by system calls until someone asks for the status.
 */
final class CheckpointListener implements InvocationHandler {
    /** The JDK refers to it weakly. */
    @SuppressWarnings("unused")
    private static Object registered;

    private CheckpointListener() {}

    static void register() {
        try {
            Class<?> resource = Class.forName("jdk.crac.Resource");
            Class<?> context = Class.forName("jdk.crac.Context");
            Object global =
                    Class.forName("jdk.crac.Core").getMethod("getGlobalContext").invoke(null);
            Object listener = Proxy.newProxyInstance(
                    CheckpointListener.class.getClassLoader(), new Class<?>[] {resource}, new CheckpointListener());
            context.getMethod("register", resource).invoke(global, listener);
            registered = listener;
        } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
            // Not such a JDK.
        }
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        return switch (method.getName()) {
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == arguments[0];
            case "toString" -> "TaskClock's checkpoint listener";
            case "afterRestore" -> {
                Rungs.decideAfterRestore();
                yield null;
            }
            default -> null;
        };
    }
}
