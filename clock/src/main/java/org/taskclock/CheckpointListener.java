// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Selects the backend again after a checkpoint is restored, on JDKs that report it (CRaC, package jdk.crac). On other
 * JDKs, readings detect the restore and use system calls until the status is requested.
 */
final class CheckpointListener implements InvocationHandler {
    /** Keeps the listener reachable, because the JDK refers to it weakly. */
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
            // This JDK has no CRaC.
        }
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        return switch (method.getName()) {
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == arguments[0];
            case "toString" -> "TaskClock checkpoint listener";
            case "beforeCheckpoint" -> {
                // The JDK refuses a checkpoint while files are open.
                if (Library.isLoaded()) Library.keepWaitFiles(false);
                yield null;
            }
            case "afterRestore" -> {
                if (Library.isLoaded()) Library.keepWaitFiles(true);
                Backends.selectAfterRestore();
                yield null;
            }
            default -> null;
        };
    }
}
